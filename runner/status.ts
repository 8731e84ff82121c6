import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Registry } from 'prom-client'

/** For the operator only, on a port of its own: /healthz and /metrics. Vals' addresses have neither. */
export async function openStatus(
  register: Registry,
  at: { host: string; port: number },
): Promise<AsyncDisposable> {
  const server = createServer((request, response) => {
    if (request.url === '/healthz') return response.end('ok\n')
    if (request.url !== '/metrics') return response.writeHead(404).end()
    void register.metrics().then((text) => response.setHeader('content-type', register.contentType).end(text))
    return response
  })
  server.listen(at.port, at.host)
  await once(server, 'listening')
  return {
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
