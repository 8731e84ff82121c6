import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Alerts, SetAlerts } from '@valley/contract/alerts.ts'
import { readConfig } from '../config.ts'
import { createObservations } from '../observations.ts'
import { startServer } from '../start-server.ts'
import { assertFault } from '../testing/assert-fault.ts'
import { callAs, newCaller } from '../testing/call-as.ts'
import { createVal } from '../testing/create-val.ts'
import { openTestServer } from '../testing/open-test-server.ts'

const server = await openTestServer()
after(() => server[Symbol.asyncDispose]())
const url = 'https://hooks.example.com/valley'

async function openAlerts() {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice)
  const path = `/v1/vals/${val.id}/alerts`
  const set = (body: object) => alice.put<SetAlerts>(path, body)
  const get = () => alice.get<Alerts>(path)
  return { alice, val, path, set, get }
}

test('alerts are what was set last, and gone when deleted; again is fine', async () => {
  const { alice, path, set, get } = await openAlerts()
  assertFault(await get(), 'not_found')
  assert.equal((await set({ url })).status, 200)
  const nothingYet = { lastAlertAt: null, lastDelivery: null }
  assert.deepEqual((await get()).body, { url, quietSeconds: 3_600, ...nothingYet })
  await set({ url: `${url}/2`, quietSeconds: 60 })
  assert.deepEqual((await get()).body, { url: `${url}/2`, quietSeconds: 60, ...nothingYet })
  for (let times = 0; times < 2; times++) assert.equal((await alice.delete(path)).status, 204)
  assertFault(await get(), 'not_found')
})

test('the secret is shown when it is made, never again, and kept sealed', async () => {
  const { alice, val, path, set, get } = await openAlerts()
  const { secret = assert.fail() } = (await set({ url })).body
  assert.equal(Buffer.from(secret.replace('whsec_', ''), 'base64').length, 32)
  assert.equal((await set({ url })).body.secret, undefined)
  assert.equal('secret' in (await get()).body, false)
  const { secret: rotated = assert.fail() } = (await set({ url, rotateSecret: true })).body
  const { sealed_value } = await readRow(val.id)
  for (const known of [secret, rotated]) assert.equal(sealed_value.includes(known.slice(6, 20)), false)
  await alice.delete(path)
  const { secret: third = assert.fail() } = (await set({ url })).body
  assert.equal(new Set([secret, rotated, third]).size, 3)
})

async function readRow(valId: string) {
  return server.db.selectFrom('alerts').selectAll().where('val_id', '=', valId).executeTakeFirstOrThrow()
}

test('urls and quiet periods are taken up to their bounds and refused beyond, with the reason', async () => {
  const { set } = await openAlerts()
  const good = ['http://example.com', 'https://example.com:8443/a?b=c', `${url}/${'x'.repeat(2_000)}`]
  good.push('http://198.51.100.7', 'http://8.8.8.8', 'http://[2001:db8::1]/', 'https://localhost.example.com')
  for (const each of good) assert.equal((await set({ url: each })).status, 200, each)
  const bad = ['example.com', 'ftp://example.com', 'file:///etc/passwd', `${url}/${'x'.repeat(2_048)}`, '']
  bad.push('https://user@example.com', 'https://:password@example.com')
  for (const each of bad) assertFault(await set({ url: each }), 'invalid_request')
  const inside = [
    '127.0.0.1',
    '10.1.2.3',
    '169.254.169.254',
    '192.168.0.1',
    '2130706433',
    '0x7f.1',
    'localhost',
  ]
  inside.push('a.localhost', '[::1]', '[::ffff:10.0.0.1]', '[fd00:ec2::254]', '0.0.0.0', '100.64.0.1')
  for (const host of inside) {
    const answer = await set({ url: `http://${host}/` })
    assertFault(answer, 'invalid_request')
    assert.match(answer.text, /must be on the public internet/)
  }
  for (const quietSeconds of [60, 604_800]) assert.equal((await set({ url, quietSeconds })).status, 200)
  for (const quietSeconds of [59, 604_801, 60.5]) {
    assertFault(await set({ url, quietSeconds }), 'invalid_request')
  }
})

test('a service without keys keeps no alerts, and says so', async () => {
  const { alice, path, set } = await openAlerts()
  const env = { DATABASE_URL: server.databaseUrl, NATS_URL: process.env['TEST_NATS_URL'], PORT: '0' }
  const config = readConfig({ ...env, LOG_LEVEL: 'error' })
  await using keyless = await startServer(config, createObservations(config.logLevel))
  const there = callAs({ url: keyless.url, fetch: server.fetch }, alice.user.token)
  const refused = await there.put(path, { url })
  assert.match(assertFault(refused, 'unavailable').message, /operator sets ENVIRONMENT_KEYS/)
  await set({ url })
  assert.equal((await there.delete(path)).status, 204, 'what is there can be deleted')
})

test('another url ends the quiet and forgets how the other one fared; another period does not', async () => {
  const { val, set, get } = await openAlerts()
  await set({ url })
  const at = new Date()
  const lastAlertAt = at.toISOString()
  const attempt = { last_attempt_at: at, last_attempt_ok: false, last_attempt_status: 500 }
  await server.db
    .updateTable('alerts')
    .set({ last_raised_at: at, ...attempt, last_attempt_message: 'no' })
    .where('val_id', '=', val.id)
    .execute()
  const lastDelivery = { at: lastAlertAt, ok: false, status: 500, message: 'no' }
  await set({ url, quietSeconds: 60 })
  assert.deepEqual((await get()).body, { url, quietSeconds: 60, lastAlertAt, lastDelivery })
  await set({ url, rotateSecret: true })
  assert.deepEqual((await get()).body, { url, quietSeconds: 3_600, lastAlertAt, lastDelivery })
  await set({ url: `${url}/2` })
  assert.partialDeepStrictEqual((await get()).body, { lastAlertAt: null, lastDelivery: null })
})
