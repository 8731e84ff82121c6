import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openDatabase } from '@valley/server/database/open-database.ts'
import { bareQueries } from './bare-queries.ts'

/** What the engine gives bare: no authentication, no parsing, no contract; the same statement on the same pool. */
const { DATABASE_URL: url = '', BARE_CALLER: caller = '{}' } = process.env
const { pool } = openDatabase({ url, connectionsMax: 10, onIdleError: () => {} })
const queries = bareQueries(JSON.parse(caller))

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const kind = request.url === '/v1/me/runs' ? 'runs' : request.method === 'PUT' ? 'put' : 'get'
    void pool.query(queries[kind](request.url ?? '', Buffer.concat(chunks))).then(({ rows }) => {
      response.setHeader('content-type', 'application/json')
      return response.end(JSON.stringify(rows))
    })
  })
})
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
