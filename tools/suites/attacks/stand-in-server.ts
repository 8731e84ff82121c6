import { createSocket } from 'node:dgram'
import { createServer, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'

/*
 * The internet of the attack suite, in a network namespace of its own: a web server that redirects wherever it is told,
 * and a resolver whose names lead wherever they say. It prints the address of ours that each connection came to, and
 * what was posted.
 *
 * Arguments: port, public address, private address.
 */
const [port = '', publicAddress = '', privateAddress = ''] = process.argv.slice(2)
const dnsPort = 53
let rebound = 0

const server = createServer((request, response) => {
  const [path, target] = (request.url ?? '').split('?')
  if (request.method === 'POST') printPosted(request)
  if (path === '/never') return
  if (path === '/to' && target) response.writeHead(302, { location: decodeURIComponent(target) })
  if (path === '/status' && target) response.writeHead(Number(target))
  response.end(`served at ${request.socket.localAddress ?? ''}\n`)
})
server.on('connection', ({ localAddress }) =>
  console.log(`came to ${localAddress?.replace('::ffff:', '') ?? ''}`),
)

const resolver = createSocket('udp4')
resolver.on('message', (question, { port, address }) => resolver.send(answer(question), port, address))

server.listen(Number(port), () => resolver.bind(dnsPort, () => console.log('ready')))

function printPosted(request: IncomingMessage): void {
  const { url, headers } = request
  void text(request).then(
    (body) => console.log(`posted ${JSON.stringify({ url, headers, body })}`),
    () => undefined,
  )
}

/** One question, one address, good for no time at all. Anything but a known name for IPv4 gets an empty answer. */
function answer(question: Buffer): Buffer {
  const end = question.indexOf(0, 12) + 5
  const isIpv4 = question.readUInt16BE(end - 4) === 1
  const address = isIpv4 ? resolve(readName(question)) : null
  const header = Buffer.from(question.subarray(0, 12))
  header.writeUInt16BE(0x8180, 2)
  header.writeUInt16BE(address ? 1 : 0, 6)
  header.fill(0, 8, 12)
  const bytes = (address ?? '').split('.').map(Number)
  const record = address ? [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...bytes] : []
  return Buffer.concat([header, question.subarray(12, end), Buffer.from(record)])
}

function readName(question: Buffer): string {
  const labels: string[] = []
  for (let at = 12; question[at]; at += (question[at] ?? 0) + 1) {
    labels.push(question.toString('latin1', at + 1, at + 1 + (question[at] ?? 0)))
  }
  return labels.join('.').toLowerCase()
}

function resolve(name: string): string | null {
  if (name === 'rebind.test') return rebound++ % 2 === 0 ? publicAddress : privateAddress
  const [, address] = /^(\d+-\d+-\d+-\d+)\.names\.test$/.exec(name) ?? []
  return address?.replaceAll('-', '.') ?? null
}
