import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError, readConfig } from './config.ts'

const DATABASE_URL = 'postgres://localhost/valley'

test('everything that is wrong with the configuration is told at once, by name', () => {
  const env = {
    DATABASE_URL: 'mysql://localhost',
    PORT: '70000',
    PUBLIC_URL: 'valley.example.com',
    TRUST_PROXY: 'yes',
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
