import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { runCommand } from '../run-command.ts'

/** Addresses of a network for documentation, which the rules take for the public internet. */
export const publicAddress = '198.51.100.10'
export const publicGateway = '198.51.100.1'

/** A stand-in for the internet: a network namespace with one machine that serves HTTP, UDP and DNS. */
export async function openPublicHost(names: Readonly<Record<string, string>>): Promise<AsyncDisposable> {
  const namespace = `valley-public-${process.pid}`
  const link = `vpub${process.pid % 100_000}`
  const remove = async () => {
    await runCommand('ip', ['netns', 'delete', namespace]).catch(() => {})
    await runCommand('ip', ['link', 'delete', link]).catch(() => {})
  }
  await runCommand('ip', ['-batch', '-'], {
    input: `netns add ${namespace}
link add ${link} type veth peer name eth0 netns ${namespace}
addr add ${publicGateway}/24 dev ${link}
link set ${link} up
`,
  })
  await runCommand('ip', ['-n', namespace, '-batch', '-'], {
    input: `link set lo up
addr add ${publicAddress}/24 dev eth0
link set eth0 up
route add default via ${publicGateway}
`,
  })
  const services = new URL('public-services.ts', import.meta.url).pathname
  const enter = [`--net=/run/netns/${namespace}`, process.execPath, services, JSON.stringify(names)]
  const child = spawn('nsenter', enter, { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  return {
    [Symbol.asyncDispose]: async () => {
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
      await remove()
    },
  }
}
