import { randomBytes } from 'node:crypto'
import pg from 'pg'
import type { Scope } from '@valley/contract/scopes.ts'
import { readConfig } from '../config.ts'
import { openDatabase } from '../database/open-database.ts'
import type { Db } from '../database/statement.ts'
import { newKeyText } from '../env/keys.ts'
import { createObservations } from '../observations.ts'
import { startServer } from '../start-server.ts'
import { issueToken } from '../tokens/issue-token.ts'
import { createUser } from '../users/create-user.ts'
import { checkedFetch } from './checked-fetch.ts'

export interface TestUser {
  readonly id: string
  readonly username: string
  readonly token: string
}

export interface TestServer extends AsyncDisposable {
  readonly url: string
  readonly databaseUrl: string
  /** The same database, for what the API cannot do: a run to list, a token that has expired. */
  readonly db: Db
  /** fetch that fails the test when an answer does not fit the OpenAPI document. */
  readonly fetch: typeof checkedFetch
  createUser(username: string): Promise<TestUser>
  issueToken(
    user: TestUser,
    options?: { readonly scopes?: readonly Scope[]; readonly expiresAt?: Date },
  ): Promise<{ readonly id: string; readonly token: string }>
}

/** A server of its own on a database of its own, cloned from the migrated template. `npm test` starts PostgreSQL. */
export async function openTestServer(env: Readonly<Record<string, string>> = {}): Promise<TestServer> {
  await using opened = new AsyncDisposableStack()
  const databaseUrl = await cloneDatabase(opened)
  const config = readConfig({
    DATABASE_URL: databaseUrl,
    NATS_URL: required('TEST_NATS_URL'),
    PORT: '0',
    ENVIRONMENT_KEYS: newKeyText('test'),
    LOG_LEVEL: 'error',
    RATE_LIMIT_PER_MINUTE: '10000000',
    RATE_LIMIT_ANONYMOUS_PER_MINUTE: '10000000',
    ...env,
  })
  const { db } = opened.use(openDatabase({ url: databaseUrl, connectionsMax: 4, onIdleError: () => {} }))
  const server = opened.use(await startServer(config, createObservations(config.logLevel)))
  const toClose = opened.move()
  const issue: TestServer['issueToken'] = async (user, { scopes = null, expiresAt = null } = {}) => {
    const { row, text } = await issueToken(db, { ownerId: user.id, name: 'test', scopes, expiresAt })
    return { id: row.id, token: text }
  }
  return {
    url: server.url,
    databaseUrl,
    db,
    fetch: checkedFetch,
    issueToken: issue,
    async createUser(username) {
      const id = await createUser(db, { username, email: `${username}@example.com` })
      const { token } = await issue({ id, username, token: '' })
      return { id, username, token }
    },
    [Symbol.asyncDispose]: () => toClose.disposeAsync(),
  }
}

/** Gone when the stack is disposed of. */
export async function cloneDatabase(opened: AsyncDisposableStack): Promise<string> {
  const admin = opened.adopt(new pg.Client(required('TEST_POSTGRES_URL')), (client) => client.end())
  await admin.connect()
  const name = `test_${randomBytes(6).toString('hex')}`
  await admin.query(`CREATE DATABASE ${name} TEMPLATE valley_template`)
  opened.defer(async () => {
    await admin.query(`DROP DATABASE ${name} WITH (FORCE)`)
  })
  const url = new URL(required('TEST_POSTGRES_URL'))
  url.pathname = `/${name}`
  return url.href
}

function required(name: string): string {
  const value = process.env[name]
  if (value === undefined) throw new Error(`${name} is not set: run the tests with \`npm test\`.`)
  return value
}
