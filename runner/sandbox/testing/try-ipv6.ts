import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { createServer } from 'node:http'
import { runCommand } from '../run-command.ts'
import { openTestDriver, startInside } from './open-test-driver.ts'

/*
 * Runs in a network of its own, in which this is a host with public IPv6 that forwards, and a namespace is the
 * internet. Prints what came of each address that a val tried.
 */
await mkdir('/run/netns', { recursive: true })
await runCommand('mount', ['-t', 'tmpfs', 'valley', '/run/netns'])
await runCommand('ip', ['-batch', '-'], {
  input: `link set lo up
netns add public
link add up0 type veth peer name eth0 netns public
addr add 2001:db8::2/64 dev up0 nodad
link set up0 up
route add default via 2001:db8::10
`,
})
await runCommand('ip', ['-n', 'public', '-batch', '-'], {
  input: `addr add 2001:db8::10/64 dev eth0 nodad
addr add 2001:db8:1::10/64 dev eth0 nodad
link set eth0 up
`,
})
await runCommand('sh', ['-c', 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'])
const serve = `require('http').createServer((_, r) => r.end('public')).listen(80, '::', () => console.log('ready'))`
const internet = spawn('nsenter', ['--net=/run/netns/public', process.execPath, '--eval', serve])
await once(internet.stdout, 'data')
const host = createServer((_, response) => response.end('reached')).listen(8080, '::')

const kind = process.argv[2] === 'runsc' ? 'runsc' : 'runc'
{
  await using driver = await openTestDriver({
    kind,
    egress: { denied: ['2001:db8:1::/48'], resolvers: ['198.51.100.10'] },
  })
  await using inside = await startInside(driver.driver)
  const addresses = [
    '2001:db8::10',
    '2001:db8:1::10',
    '2001:db8::2',
    'fd76:616c:6c65::1',
    '::1',
    'fd00:ec2::254',
  ]
  const answers = await inside.run(`export default async () => {
    const answers = {}
    for (const address of ${JSON.stringify(addresses)}) {
      const port = address.startsWith('2001:db8') && address.endsWith('10') ? 80 : 8080
      answers[address] = await fetch('http://[' + address + ']:' + port, { signal: AbortSignal.timeout(10000) })
        .then((response) => response.text(), (error) => error.name === 'TimeoutError' ? 'timeout' : 'refused')
    }
    return answers
  }`)
  process.stdout.write(JSON.stringify(answers))
}
internet.kill('SIGKILL')
host.close()
