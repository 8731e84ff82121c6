import { createSocket } from 'node:dgram'
import { createServer } from 'node:http'

/*
 * What runs on the stand-in for the internet. HTTP on port 80 says "public", or redirects where the query `to` says;
 * the same on the port for mail, where nobody should arrive; UDP on port 7 sends back; DNS knows the names it is given.
 */
const names = JSON.parse(process.argv[2] ?? '{}') as Record<string, string>
const dnsHeaderBytes = 12
const questionTailBytes = 4

const http = createServer((request, response) => {
  const to = new URL(request.url ?? '/', 'http://public').searchParams.get('to')
  if (to !== null) response.writeHead(302, { location: to })
  response.end('public')
})
const mail = createServer((_, response) => response.end('mail'))
const echo = createSocket('udp4').on('message', (bytes, from) => echo.send(bytes, from.port, from.address))
const dns = createSocket('udp4').on('message', (query, from) => {
  dns.send(answerQuery(query), from.port, from.address)
})

http.listen(80, () =>
  mail.listen(25, () =>
    echo.bind(7, () =>
      dns.bind(53, () => {
        process.stdout.write('ready\n')
      }),
    ),
  ),
)

/** One A record if the name is known and an IPv4 address was asked for, none otherwise. */
function answerQuery(query: Buffer): Buffer {
  const labels: string[] = []
  let offset = dnsHeaderBytes
  for (let length = query[offset] ?? 0; length > 0; length = query[offset] ?? 0) {
    labels.push(query.toString('latin1', offset + 1, offset + 1 + length))
    offset += 1 + length
  }
  const question = query.subarray(dnsHeaderBytes, offset + 1 + questionTailBytes)
  const asksForIpv4 = query.readUInt16BE(offset + 1) === 1
  const address = asksForIpv4 ? names[labels.join('.').toLowerCase()] : undefined
  const header = Buffer.alloc(dnsHeaderBytes)
  query.copy(header, 0, 0, 2)
  header.writeUInt16BE(0x8180, 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(address === undefined ? 0 : 1, 6)
  if (address === undefined) return Buffer.concat([header, question])
  const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address.split('.').map(Number)])
  return Buffer.concat([header, question, record])
}
