import { randomBytes } from 'node:crypto'
import pg from 'pg'

export interface EmptyDatabase extends AsyncDisposable {
  readonly url: string
}

/** A database without a single table. */
export async function openEmptyDatabase(): Promise<EmptyDatabase> {
  const name = `empty_${randomBytes(6).toString('hex')}`
  await runAsAdmin(`CREATE DATABASE ${name}`)
  const url = new URL(adminUrl())
  url.pathname = `/${name}`
  return {
    url: url.href,
    [Symbol.asyncDispose]: () => runAsAdmin(`DROP DATABASE ${name} WITH (FORCE)`),
  }
}

/** What only PostgreSQL's own administrator may do. */
export async function runAsAdmin(statement: string): Promise<void> {
  const client = new pg.Client(adminUrl())
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

function adminUrl(): string {
  const url = process.env['TEST_POSTGRES_URL']
  if (url === undefined) throw new Error('TEST_POSTGRES_URL is not set: run the tests with `npm test`.')
  return url
}
