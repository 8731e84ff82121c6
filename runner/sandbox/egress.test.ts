import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { after, test } from 'node:test'
import { runCommand } from './run-command.ts'
import { findRunner } from './testing/find-traces.ts'
import { type Inside, openTestDriver, startInside } from './testing/open-test-driver.ts'
import { openPublicHost, publicAddress, publicGateway } from './testing/public-host.ts'

const hostAddresses = Object.values(networkInterfaces()).flatMap((addresses = []) =>
  addresses.filter(({ family }) => family === 'IPv4').map(({ address }) => address),
)
const publicHost = await openPublicHost({
  'public.test': publicAddress,
  'private.test': '10.0.0.1',
  'loopback.test': '127.0.0.1',
  'metadata.test': '169.254.169.254',
  'host.test': publicGateway,
})
after(() => publicHost[Symbol.asyncDispose]())

/** Stands for everything of the operator's that listens on this host; nobody may ever arrive. */
let arrived = 0
const service = createServer((connection) => {
  arrived += 1
  connection.on('error', () => {}).end('HTTP/1.1 200 OK\r\n\r\nreached')
})
service.listen(0, '0.0.0.0')
await once(service, 'listening')
const { port } = service.address() as { port: number }
after(() => service.close())

for (const kind of ['runc', 'runsc'] as const) {
  test(`${kind}: of all addresses, only public ones are reached`, { timeout: 120_000 }, async (context) => {
    await using host = await openTestDriver({
      kind,
      egress: { denied: ['198.51.100.128/25'], resolvers: [publicAddress] },
    })
    const { gatewayIpv4 } = await findRunner(host.folder)
    await using inside = await startInside(host.driver)
    await using sibling = await startInside(host.driver)
    const siblingAddress = gatewayIpv4.replace(/\d+$/, '3')
    await sibling.run(`export default async () => {
      Deno.serve({ hostname: '0.0.0.0', port: 8000, onListen() {} }, () => new Response('reached'))
    }`)
    const urls = {
      ...Object.fromEntries(refusedUrls(gatewayIpv4).map((url) => [url, 'refused'])),
      [`http://${siblingAddress}:8000/`]: 'refused',
      'http://127.0.0.1:8000/': 'refused',
      [`http://${publicAddress}/`]: 'public',
      'http://public.test/': 'public',
      [`http://0xc633640a/`]: 'public',
    }
    const answers = await fetchInside(inside, Object.keys(urls))
    for (const [url, { answer, ms }] of Object.entries(answers)) {
      await context.test(url, () => {
        assert.equal(answer, urls[url])
        assert.ok(ms < 3_000, `it took ${ms} ms to fail`)
      })
    }
    assert.equal(arrived, 0)
  })
}

function refusedUrls(gateway: string): string[] {
  const addresses = [...hostAddresses, gateway, publicGateway, 'localhost', '[::1]', '0.0.0.0', '[::]']
  const target = `http://%:${port}/`
  return [
    ...addresses.map((address) => target.replace('%', address)),
    // The same loopback and private addresses in other notations.
    ...['2130706433', '0x7f000001', '0177.0.0.1', '127.1', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]'].map(
      (address) => target.replace('%', address),
    ),
    ...[
      '10.0.0.1',
      '167772161',
      '0x0a000001',
      '[::ffff:10.0.0.1]',
      '172.16.0.1',
      '192.168.1.1',
      '100.64.0.1',
    ].map((address) => `http://${address}/`),
    'http://169.254.169.254/latest/meta-data/',
    'http://[fd00:ec2::254]/latest/meta-data/',
    'http://[::ffff:169.254.169.254]/',
    'http://[64:ff9b::a9fe:a9fe]/',
    'http://198.51.100.200/', // the operator's range
    `http://private.test/`,
    `http://loopback.test:${port}/`,
    `http://metadata.test/`,
    `http://host.test:${port}/`,
    `http://${publicAddress}/?to=http://10.0.0.1/`,
    `http://${publicAddress}/?to=http://127.0.0.1:${port}/`,
    `http://${publicAddress}/?to=http://host.test:${port}/`,
    `http://${publicAddress}:25/`, // mail
  ]
}

async function fetchInside(inside: Inside, urls: readonly string[]) {
  return (await inside.run(`export default async () => {
    const answers = {}
    for (const url of ${JSON.stringify(urls)}) {
      const startedAt = performance.now()
      const answer = await fetch(url, { signal: AbortSignal.timeout(10000) }).then(
        (response) => response.text(),
        (error) => (error.name === 'TimeoutError' ? 'timeout' : 'refused'),
      )
      answers[url] = { answer, ms: performance.now() - startedAt }
    }
    return answers
  }`)) as Record<string, { answer: string; ms: number }>
}

test('what is no HTTP is refused alike: TCP, UDP, WebSocket, and what node:net and node:dgram send', async () => {
  await using host = await openTestDriver({
    kind: 'runc',
    egress: { denied: [], resolvers: [publicAddress] },
  })
  await using inside = await startInside(host.driver)
  const answers = await inside.run(`import net from 'node:net'
  import dgram from 'node:dgram'
  const connect = (address, port) => new Promise((resolve) => {
    const socket = net.connect(port, address, () => { socket.destroy(); resolve('reached') })
    socket.on('error', ({ code }) => resolve(code))
  })
  const send = (address, port) => new Promise((resolve) => {
    const socket = dgram.createSocket('udp4')
    const done = (answer) => { clearTimeout(timer); socket.close(); resolve(answer) }
    const timer = setTimeout(done, 1500, 'nothing came back')
    socket.on('message', () => done('reached'))
    socket.on('error', () => done('refused'))
    socket.send('hello', port, address, (error) => { if (error) done('refused') })
  })
  export default async () => ({
    publicTcp: await connect('${publicAddress}', 80),
    privateTcp: await connect('10.0.0.1', 80),
    hostTcp: await connect('${publicGateway}', ${port}),
    mail: await connect('${publicAddress}', 25),
    denoTcp: await Deno.connect({ hostname: '127.0.0.1', port: ${port} }).then(() => 'reached', () => 'refused'),
    publicUdp: await send('${publicAddress}', 7),
    privateUdp: await send('10.0.0.1', 7),
    hostUdp: await send('${publicGateway}', 7),
    broadcastUdp: await send('255.255.255.255', 7),
    multicastUdp: await send('224.0.0.251', 5353),
    webSocket: await new Promise((resolve) => {
      const socket = new WebSocket('ws://${publicGateway}:${port}/')
      socket.onopen = () => resolve('reached')
      socket.onerror = () => resolve('refused')
    }),
  })`)
  const { publicTcp, publicUdp, ...others } = answers as Record<string, string>
  assert.deepEqual({ publicTcp, publicUdp }, { publicTcp: 'reached', publicUdp: 'reached' })
  for (const [name, answer] of Object.entries(others)) assert.notEqual(answer, 'reached', name)
  assert.equal(arrived, 0)
})

test('sandboxes do not share abstract sockets', async () => {
  await using host = await openTestDriver({ kind: 'runc' })
  await using one = await startInside(host.driver)
  await using other = await startInside(host.driver)
  const name = JSON.stringify('\0valley-test')
  await one.run(`import net from 'node:net'
    export default () => new Promise((resolve) => net.createServer().listen(${name}, () => resolve(1)))`)
  const answer = await other.run(`import net from 'node:net'
    export default () => new Promise((resolve) => {
      net.connect(${name}, () => resolve('reached')).on('error', ({ code }) => resolve(code))
    })`)
  assert.equal(answer, 'ECONNREFUSED')
})

test("the rules inside hold when somebody has flushed the host's", async () => {
  await using host = await openTestDriver({ kind: 'runc' })
  await using inside = await startInside(host.driver)
  await runCommand('nft', ['delete', 'table', 'inet', (await findRunner(host.folder)).tableName])
  const urls = hostAddresses.map((address) => `http://${address}:${port}/`)
  const answers = await fetchInside(inside, urls)
  for (const [url, { answer }] of Object.entries(answers)) assert.equal(answer, 'refused', url)
  assert.equal(arrived, 0)
})

test("the host's rules hold where those inside do not reach", async () => {
  await using host = await openTestDriver({ kind: 'runc' })
  await using inside = await startInside(host.driver)
  const { namespacePrefix } = await findRunner(host.folder)
  const enter = [`--net=/run/netns/${namespacePrefix}0`, 'nft', 'flush', 'ruleset']
  await runCommand('nsenter', enter)
  const addresses = [...hostAddresses.filter((address) => address !== '127.0.0.1'), publicGateway]
  const urls = ['http://10.0.0.1/', 'http://169.254.169.254/', `http://${publicAddress}:25/`]
  const answers = await fetchInside(inside, [
    ...addresses.map((address) => `http://${address}:${port}/`),
    ...urls,
  ])
  for (const [url, { answer }] of Object.entries(answers)) assert.equal(answer, 'refused', url)
  assert.equal(arrived, 0)
})

test('new connections per second are bounded for one sandbox, not for its neighbour', async () => {
  await using host = await openTestDriver({
    kind: 'runc',
    egress: { denied: [], resolvers: [publicAddress] },
  })
  await using inside = await startInside(host.driver)
  await using neighbour = await startInside(host.driver)
  const flood = (await inside.run(`export default async () => {
    const tries = Array.from({ length: 220 }, () => Deno.connect({ hostname: '${publicAddress}', port: 80 })
      .then((connection) => connection.close(), () => 'refused'))
    return (await Promise.all(tries)).filter((answer) => answer === 'refused').length
  }`)) as number
  assert.ok(flood > 50, `only ${flood} were refused`)
  const answers = await fetchInside(neighbour, [`http://${publicAddress}/`])
  assert.equal(answers[`http://${publicAddress}/`]?.answer, 'public')
})
