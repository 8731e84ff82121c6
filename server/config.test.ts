import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { ConfigError } from '@valley/process/parse-env.ts'
import { readConfig } from './config.ts'
import { newKeyText } from './env/keys.ts'

const DATABASE_URL = 'postgres://localhost/valley'

test('everything that is wrong with the configuration is told at once, by name', () => {
  const env = {
    DATABASE_URL: 'mysql://localhost',
    PORT: '70000',
    PUBLIC_URL: 'valley.example.com',
    VALS_URL: 'http://127.0.0.1:8081',
    ENVIRONMENT_KEYS: 'first:too short',
    TRUST_PROXY: 'yes',
    NATS_REPLICAS: '6',
    DATABASE_CONNECTIONS_MAX: '0',
    RATE_LIMIT_PER_MINUTE: 'many',
    RATE_LIMIT_ANONYMOUS_PER_MINUTE: '-1',
    RUN_RETENTION_DAYS: '0.5',
    LOG_LEVEL: 'loud',
  }
  assert.throws(
    () => readConfig(env),
    (error) => {
      assert.ok(error instanceof ConfigError)
      const named = [...error.message.matchAll(/^ {2}(\w+): ./gm)].map(([, name]) => name)
      assert.deepEqual(new Set(named), new Set(Object.keys(env)))
      return true
    },
  )
})

test('the database is the one setting that has no default', () => {
  assert.throws(() => readConfig({}), { name: 'ConfigError', message: /DATABASE_URL/ })
  const config = readConfig({ DATABASE_URL })
  assert.partialDeepStrictEqual(config, {
    port: 8080,
    host: '127.0.0.1',
    trustProxy: false,
    logLevel: 'info',
  })
  assert.equal(config.publicUrl, undefined)
})

test('settings are read as what they are', () => {
  const config = readConfig({
    DATABASE_URL,
    PORT: '0',
    PUBLIC_URL: 'https://valley.example.com/base//',
    TRUST_PROXY: 'true',
    RUN_RETENTION_DAYS: '7',
  })
  assert.partialDeepStrictEqual(config, {
    databaseUrl: DATABASE_URL,
    port: 0,
    publicUrl: 'https://valley.example.com/base',
    trustProxy: true,
    runRetentionDays: 7,
  })
})

test('keys are taken in their order, and a list that does not fit is refused without repeating any of it', () => {
  const [first, second] = [newKeyText('first'), newKeyText('second')]
  const { environmentKeys } = readConfig({ DATABASE_URL, ENVIRONMENT_KEYS: `${first}, ${second}` })
  assert.deepEqual(
    environmentKeys.map(({ id, key }) => `${id}:${key.export().toString('base64')}`),
    [first, second],
  )
  assert.doesNotMatch(
    inspect(environmentKeys),
    new RegExp(first.slice(6, 16)),
    'printed, a key shows nothing',
  )
  for (const bad of [
    '',
    first.slice(6),
    first.slice(0, -8),
    `${first},${first}`,
    `${first},`,
    `a b:${first}`,
  ]) {
    assert.throws(
      () => readConfig({ DATABASE_URL, ENVIRONMENT_KEYS: bad }),
      ({ message }: Error) => /ENVIRONMENT_KEYS/.test(message) && !message.includes(first.slice(6, 16)),
      bad,
    )
  }
})

test('the domain of vals is a domain and nothing more', () => {
  const valsUrlOf = (VALS_URL: string) => readConfig({ DATABASE_URL, VALS_URL }).valsUrl
  assert.equal(valsUrlOf('http://localhost:8081'), 'http://localhost:8081')
  assert.equal(valsUrlOf('https://Vals.Example.com:443/'), 'https://vals.example.com')
  const hosts = ['127.0.0.1', '[::1]:80', 'a.example/vals', 'a.example?x', 'me@a.example', 'a.example#x']
  for (const host of hosts) assert.throws(() => valsUrlOf(`http://${host}`), { message: /VALS_URL/ }, host)
})
