import type { Attack, Places } from './attack.ts'
import { probe, using } from './probe.ts'

const family = 'network'

export function networkAttacks(places: Places): Attack[] {
  return [
    reachesPlatform(places),
    reachesByNotation(places),
    reachesByNames(places),
    reachesByRedirect(places),
    reachesSiblings(places),
    reachesByOtherProtocols(places),
    reachesBySocketFiles(),
  ]
}

function reachesPlatform({ hostAddress, gateway, ports, standIn, canaryPort }: Places): Attack {
  const services = Object.entries(ports).flatMap(([service, port]) =>
    ['127.0.0.1', hostAddress, gateway].map((address) => [
      `${service} at ${address}`,
      connect(address, port),
    ]),
  )
  const metadata = [
    ['metadata', "(await fetch('http://169.254.169.254/latest/meta-data/')).status"],
    ['metadata in IPv6', "(await fetch('http://[fd00:ec2::254]/')).status"],
    ['metadata of another cloud', "(await fetch('http://100.100.100.200/')).status"],
    ['a link-local listener', connect(standIn.linkLocalAddress, standIn.port)],
    ['a private listener', connect(standIn.privateAddress, standIn.port)],
    ['mail', connect(standIn.publicAddress, 25)],
    ['the canary on the gateway', connect(gateway, canaryPort)],
    ['the canary on the host', connect(hostAddress, canaryPort)],
  ]
  return probe({
    family,
    name: 'connects to the platform and to metadata',
    tries: Object.fromEntries([...services, ...metadata]),
  })
}

/** All ways to write 127.0.0.1, and the host's own address. */
function reachesByNotation({ canaryPort, hostAddress }: Places): Attack {
  const number = hostAddress.split('.').reduce((sum, byte) => sum * 256 + Number(byte), 0)
  const [a, b, c, d] = hostAddress.split('.').map(Number)
  const hosts = {
    decimal: '2130706433',
    hexadecimal: '0x7f000001',
    octal: '0177.0.0.1',
    short: '127.1',
    shortest: '0',
    any: '0.0.0.0',
    'another loopback': '127.127.127.127',
    'IPv6 loopback': '[::1]',
    'IPv6 any': '[::]',
    'IPv4 in IPv6': '[::ffff:127.0.0.1]',
    'IPv4 in IPv6, hexadecimal': '[::ffff:7f00:1]',
    'IPv4 compatible': '[::127.0.0.1]',
    NAT64: '[64:ff9b::7f00:1]',
    '6to4': '[2002:7f00:1::]',
    'the host, decimal': String(number),
    'the host, hexadecimal': `0x${number.toString(16)}`,
    'the host, octal': [a, b, c, d].map((byte) => `0${(byte ?? 0).toString(8)}`).join('.'),
    'the host in IPv6': `[::ffff:${hostAddress}]`,
    'wide digits': '１２７.０.０.１',
  }
  return probe({
    family,
    name: 'writes addresses in other ways',
    tries: Object.fromEntries(
      Object.entries(hosts).map(([what, host]) => [
        `${what} ${host}`,
        `(await fetch('http://${host}:${canaryPort}/')).status`,
      ]),
    ),
  })
}

/** The stand-in's resolver answers `10-0-0-1.names.test` with 10.0.0.1, and `rebind.test` ever differently. */
function reachesByNames({ canaryPort, hostAddress, standIn }: Places): Attack {
  const insideUrl = `http://${named(standIn.privateAddress)}:${standIn.port}/`
  return probe({
    family,
    name: 'goes by names that lead inside',
    tries: {
      localhost: `(await fetch('http://localhost:${canaryPort}/')).status`,
      'a name under localhost': `(await fetch('http://alice.localhost:${canaryPort}/')).status`,
      'a name for loopback': `(await fetch('http://${named('127.0.0.1')}:${canaryPort}/')).status`,
      'a name for the host': `(await fetch('http://${named(hostAddress)}:${canaryPort}/')).status`,
      'a name for a private address': `(await fetch('${insideUrl}')).status`,
      'a name for metadata': `(await fetch('http://${named('169.254.169.254')}/')).status`,
      'a name for a link-local address': `(await fetch('http://${named(standIn.linkLocalAddress)}:${standIn.port}/')).status`,
      'a name by node:http': using(
        'node:http',
        `new Promise((done, fail) => it.get('${insideUrl}', (answer) => done(answer.statusCode)).on('error', fail))`,
      ),
      'a name that changes its mind': `await (async () => {
        for (let i = 0; i < 6; i++) {
          const text = await fetch('http://rebind.test:${standIn.port}/').then((answer) => answer.text())
          if (text.includes('${standIn.privateAddress}')) return text
        }
        throw new Error('always the public one')
      })()`,
    },
  })
}

function reachesByRedirect({ hostAddress, canaryPort, gateway, standIn }: Places): Attack {
  const targets = [
    `http://127.0.0.1:${canaryPort}/`,
    `http://${hostAddress}:${canaryPort}/`,
    `http://${gateway}:${canaryPort}/`,
    `http://${standIn.privateAddress}:${standIn.port}/`,
    'http://169.254.169.254/latest/meta-data/',
    `http://[::1]:${canaryPort}/`,
    'file:///etc/passwd',
  ]
  const from = `http://${standIn.publicAddress}:${standIn.port}/to`
  return probe({
    family,
    name: 'is redirected inside',
    tries: Object.fromEntries(
      targets.map((target) => [target, `(await fetch('${from}?${encodeURIComponent(target)}')).status`]),
    ),
  })
}

function reachesSiblings({ siblingAddresses, siblingPort }: Places): Attack {
  const tries = siblingAddresses.map((address) => [`sibling ${address}`, connect(address, siblingPort)])
  return probe({ family, name: 'connects to sibling vals', tries: Object.fromEntries(tries) })
}

function reachesByOtherProtocols(places: Places): Attack {
  const { hostAddress, canaryPort, standIn, siblingAddresses, siblingPort } = places
  return probe({
    family,
    name: 'goes by other protocols',
    tries: {
      'node:net to the host': using('node:net', netConnect(hostAddress, canaryPort)),
      'node:net to a private address': using('node:net', netConnect(standIn.privateAddress, standIn.port)),
      'node:tls to the host': using('node:tls', netConnect(hostAddress, canaryPort)),
      'a datagram to the host': datagram(hostAddress, canaryPort),
      'a datagram to loopback': datagram('127.0.0.1', canaryPort),
      ...Object.fromEntries(
        siblingAddresses.map((address) => [
          `a datagram to sibling ${address}`,
          datagram(address, siblingPort),
        ]),
      ),
      'a WebSocket to the host': `await new Promise((done, fail) => {
        const socket = new WebSocket('ws://${hostAddress}:${canaryPort}/')
        socket.onopen = done
        socket.onerror = (event) => fail(new Error(event.message || 'refused'))
      })`,
      'an EventSource to the host': `await new Promise((done, fail) => {
        const source = new EventSource('http://${hostAddress}:${canaryPort}/')
        source.onopen = done
        source.onerror = () => (source.close(), fail(new Error('refused')))
      })`,
      'HTTP/2 to the host': using(
        'node:http2',
        `new Promise((done, fail) => it.connect('http://${hostAddress}:${canaryPort}').on('connect', done).on('error', fail))`,
      ),
      'DNS of its own': `await Promise.race([
        Deno.resolveDns('example.test', 'A', { nameServer: { ipAddr: '${hostAddress}', port: ${canaryPort} } }),
        new Promise((_, fail) => setTimeout(() => fail(new Error('asked into nothing')), 2_000)),
      ])`,
      'TLS to the host': `await Deno.connectTls({ hostname: '${hostAddress}', port: ${canaryPort} })`,
      'a proxy on the host': `(await fetch('http://example.test/', { client: Deno.createHttpClient({ proxy: { url: 'http://${hostAddress}:${canaryPort}' } }) })).status`,
    },
  })
}

function reachesBySocketFiles(): Attack {
  return probe({
    family: 'socket folder',
    name: 'uses the sockets between it and the runner',
    tries: {
      'connect to the control socket': unix('/sock/control.sock'),
      'connect to its own server': unix('/sock/http.sock'),
      'connect by node:net': using(
        'node:net',
        `new Promise((done, fail) => it.connect('/sock/http.sock', done).on('error', fail))`,
      ),
      'an abstract socket': unix('\0valley'),
      'listen beside them': "Deno.listen({ transport: 'unix', path: '/sock/other.sock' }).close()",
      'listen in place of its server':
        "(Deno.removeSync('/sock/http.sock'), Deno.listen({ transport: 'unix', path: '/sock/http.sock' }).close())",
      'serve in their place':
        "await Deno.serve({ path: '/sock/http.sock' }, () => new Response('mine')).finished",
      'move one away': "Deno.renameSync('/sock/http.sock', '/tmp/http.sock')",
      'fill the folder': "Deno.writeFileSync('/sock/full', new Uint8Array(1 << 20))",
      'give it to everyone': "Deno.chmodSync('/sock', 0o777)",
      'the folder of another': "[...Deno.readDirSync('/run/valley')].length",
    },
  })
}

function connect(address: string, port: number): string {
  return `(await Deno.connect({ hostname: '${address}', port: ${port} })).remoteAddr`
}

function netConnect(address: string, port: number): string {
  return `new Promise((done, fail) => it.connect(${port}, '${address}', () => done('connected')).on('error', fail))`
}

function named(address: string): string {
  return `${address.replaceAll('.', '-')}.names.test`
}

function unix(path: string): string {
  return `(await Deno.connect({ transport: 'unix', path: ${JSON.stringify(path)} })).close()`
}

/** Whatever comes back has succeeded; sent without an error is not enough to tell, so the listeners do. */
function datagram(address: string, port: number): string {
  return using(
    'node:dgram',
    `new Promise((done, fail) => {
      const socket = it.createSocket('udp4').on('error', fail).on('message', done)
      const sent = (error) => error ? fail(error) : setTimeout(() => fail(new Error('sent into nothing')), 500)
      socket.send('attacked', ${port}, '${address}', sent)
    })`,
  )
}
