import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { openTestServer } from './testing/open-test-server.ts'

const endTimeoutMs = 5_000
/** Nothing listens there. */
const noBus = 'nats://127.0.0.1:1'

function startMain(env: Readonly<Record<string, string>>): ChildProcess {
  const main = new URL('main.ts', import.meta.url).pathname
  return spawn(process.execPath, [main], { env: { ...process.env, PORT: '0', ...env } })
}

async function untilListening({ stdout }: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: stdout ?? assert.fail() })) {
    const { event, url } = JSON.parse(line) as { event: string; url?: string }
    if (event === 'listening' && url !== undefined) return url
  }
  return assert.fail('the server ended before it listened')
}

/** How the process ended; one that does not end in time is killed, and the test fails. */
async function untilEnded(main: ChildProcess): Promise<unknown> {
  const ended = once(main, 'exit', { signal: AbortSignal.timeout(endTimeoutMs) })
  const [code, signal] = (await ended.catch(() => {
    main.kill('SIGKILL')
    return ['still running', null]
  })) as [unknown, unknown]
  return code ?? signal
}

for (const [name, natsUrl] of [
  ['a server', process.env['TEST_NATS_URL'] ?? noBus],
  ['a server that never found its bus', noBus],
] as const) {
  test(`${name} ends on SIGTERM by itself, with code 0`, async () => {
    await using server = await openTestServer()
    const main = startMain({ DATABASE_URL: server.databaseUrl, NATS_URL: natsUrl })
    const url = await untilListening(main)
    assert.equal((await fetch(`${url}/healthz`)).status, 200)
    main.kill('SIGTERM')
    assert.equal(await untilEnded(main), 0)
  })
}

test('a configuration that does not fit ends the process with code 1 and a text for people', async () => {
  const main = startMain({ DATABASE_URL: 'nonsense', LOG_LEVEL: 'loud' })
  const told = (await main.stderr?.toArray())?.join('')
  assert.match(told ?? '', /DATABASE_URL: must be a postgres:\/\/ address\n {2}LOG_LEVEL: /)
  assert.equal(await untilEnded(main), 1)
})
