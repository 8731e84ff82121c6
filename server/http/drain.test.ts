import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { limits } from '../limits.ts'
import { openTestServer } from '../testing/open-test-server.ts'

test('a connection on which nothing was ever said does not keep a server from stopping', async () => {
  const server = await openTestServer()
  const silent = connect(Number(new URL(server.url).port), '127.0.0.1').on('error', () => {})
  await once(silent, 'connect')
  // Answered, so that the server has seen both connections.
  await fetch(`${server.url}/healthz`)
  const startedAt = Date.now()
  await server[Symbol.asyncDispose]()
  assert.ok(Date.now() - startedAt < limits.drainTimeoutMs / 2)
  silent.destroy()
})
