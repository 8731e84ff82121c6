import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'

const folder = new URL('migrations/', import.meta.url)
/** Any constant will do, as long as every process that migrates uses the same. */
const advisoryLock = 7_326_001
const lockTimeoutMs = 60_000

interface Migration {
  readonly number: number
  readonly name: string
  readonly sql: string
  readonly hash: string
}

/** Applies what is missing, in order, each in its transaction. Several processes may call it at once. */
export async function migrate(url: string): Promise<readonly string[]> {
  const client = new pg.Client({
    connectionString: url,
    lock_timeout: lockTimeoutMs,
    connectionTimeoutMillis: 10_000,
  })
  await client.connect()
  try {
    await client.query('SELECT pg_advisory_lock($1)', [advisoryLock])
    await client.query(`CREATE TABLE IF NOT EXISTS migrations
      (number integer PRIMARY KEY, name text NOT NULL, hash text NOT NULL, applied_at timestamptz DEFAULT now())`)
    const { rows } = await client.query<{ number: number; hash: string }>(
      'SELECT number, hash FROM migrations',
    )
    const missing = findMissing(new Map(rows.map(({ number, hash }) => [number, hash])))
    for (const migration of missing) await apply(client, migration)
    return missing.map(({ name }) => name)
  } finally {
    await client.end()
  }
}

function findMissing(applied: ReadonlyMap<number, string>): readonly Migration[] {
  const migrations = readMigrations()
  for (const { number, name, hash } of migrations) {
    if (applied.has(number) && applied.get(number) !== hash) {
      throw new Error(
        `Migration ${name} was changed after it had been applied. Restore it and add a new one.`,
      )
    }
  }
  return migrations.filter(({ number }) => !applied.has(number))
}

function readMigrations(): readonly Migration[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.sql'))
  return names.toSorted().map((name) => {
    const sql = readFileSync(new URL(name, folder), 'utf8')
    return {
      number: Number(name.slice(0, 4)),
      name,
      sql,
      hash: createHash('sha256').update(sql).digest('hex'),
    }
  })
}

async function apply(client: pg.Client, { number, name, sql, hash }: Migration) {
  await client.query('BEGIN')
  try {
    await client.query(sql)
    await client.query('INSERT INTO migrations (number, name, hash) VALUES ($1, $2, $3)', [
      number,
      name,
      hash,
    ])
    await client.query('COMMIT')
  } catch (cause) {
    await client.query('ROLLBACK')
    throw new Error(`Migration ${name} failed and was rolled back.`, { cause })
  }
}
