import { createServer } from 'node:http'

/*
 * What vals call when they begin: GET /<run id>/<a number of this execution's own>. Each call is one line of output. Its
 * connections stay open, so that none is closed while a val is about to use it again.
 */
const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
  const [, runId = '', nonce = ''] = (request.url ?? '').split('/')
  process.stdout.write(`${runId} ${nonce}\n`)
  response.writeHead(204).end()
})
server.listen(80, () => process.stdout.write('ready\n'))
