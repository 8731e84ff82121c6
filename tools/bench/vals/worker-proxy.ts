import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { newDenoHTTPWorker } from '@valtown/deno-http-worker'
import { findDenoBinary } from '@valley/runner/sandbox/deno-binary.ts'

/** A plain node:http server in front of one @valtown/deno-http-worker. Run as a program of its own. */
const worker = await newDenoHTTPWorker('export default { fetch: () => new Response("hello world") }', {
  denoExecutable: findDenoBinary(),
  runFlags: ['--allow-net'],
})
process.once('SIGTERM', () => {
  worker.terminate()
  process.exit()
})
const server = createServer((request: IncomingMessage, response: ServerResponse) => {
  const url = `http://${request.headers.host}${request.url}`
  const sent = worker.request(url, { method: request.method, headers: request.headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 500, answer.headers)
    answer.pipe(response)
  })
  request.pipe(sent)
})
server.listen(0, '127.0.0.1', () => {
  console.log((server.address() as AddressInfo).port)
})
