import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { unavailable } from '../fault.ts'
import { limits } from '../limits.ts'
import type { Schema } from './schema.ts'
import { type Db, executeDirectly, preparedNameOf } from './statement.ts'

export interface DatabaseOptions {
  readonly url: string
  readonly connectionsMax: number
  readonly onIdleError: (error: Error) => void
}

export interface Database extends AsyncDisposable {
  readonly db: Db
  readonly pool: pg.Pool
}

/** A bounded pool that sheds load, with timeouts on everything. It connects when it is first used. */
export function openDatabase({ url, connectionsMax, onIdleError }: DatabaseOptions): Database {
  const pool = new SheddingPool({
    connectionString: url,
    max: connectionsMax,
    Client: NamingClient,
    connectionTimeoutMillis: limits.connectTimeoutMs,
    idleTimeoutMillis: limits.idleConnectionMs,
    query_timeout: limits.queryTimeoutMs,
    keepAlive: true,
    application_name: 'valley',
    types: { getTypeParser },
    options: sessionOptions(),
  })
  // An idle connection that breaks must not end the process; the pool has already dropped it.
  pool.on('error', onIdleError)
  // Nor one that breaks while it is taken but asks nothing, as between two statements of a transaction; the next
  // statement on it fails by itself.
  pool.on('connect', (client) => client.on('error', () => {}))
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) })
  executeDirectly(db, (query) => {
    try {
      return pool.query(query)
    } catch (error) {
      // A pool that sheds load throws; who awaits a statement expects a rejection.
      return Promise.reject(error)
    }
  })
  return {
    db,
    pool,
    async [Symbol.asyncDispose]() {
      await db.destroy()
      // Kysely ends only a pool that it has used itself.
      if (!pool.ended) await pool.end()
    },
  }
}

const timestamptz: number = pg.types.builtins.TIMESTAMPTZ

/** Sessions are in UTC, so a moment is always written alike and needs no general parser, which took a tenth of a list. */
const getTypeParser: typeof pg.types.getTypeParser = (oid: number, format?: 'text' | 'binary') =>
  oid === timestamptz ? parseMoment : pg.types.getTypeParser(oid, format)

/** `2026-11-14 09:30:00.25+00` as PostgreSQL writes it. */
function parseMoment(text: string): Date {
  return new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`)
}

/** What every connection of the server is set to. */
export function sessionOptions(): string {
  const settings = {
    statement_timeout: limits.statementTimeoutMs,
    lock_timeout: limits.lockTimeoutMs,
    idle_in_transaction_session_timeout: limits.idleInTransactionTimeoutMs,
    client_min_messages: 'warning',
    timezone: 'UTC',
    jit: 'off',
    // Every statement of ours is a short walk along indexes. A prepared one is planned without knowing its LIMIT, and
    // must not be tempted to read, hash or sort a whole table because of it.
    enable_seqscan: 'off',
    enable_hashjoin: 'off',
    enable_mergejoin: 'off',
  }
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ')
}

/** Prepares our statements under their names, so that PostgreSQL parses and plans each once per connection. */
class NamingClient extends pg.Client {
  override query(...args: unknown[]): never {
    const [text, values, ...rest] = args
    const name = typeof text === 'string' ? preparedNameOf(text) : undefined
    // oxlint-disable-next-line typescript/unbound-method -- it is bound in the next line.
    const query = super.query as unknown as (...args: unknown[]) => never
    return name === undefined ? query.apply(this, args) : query.call(this, { name, text, values }, ...rest)
  }
}

class SheddingPool extends pg.Pool {
  override connect(...args: unknown[]): never {
    if (this.waitingCount >= limits.poolWaitersMax) throw tooBusy()
    // oxlint-disable-next-line typescript/unbound-method -- it is bound in the next line.
    const connect = super.connect as unknown as (...args: unknown[]) => never
    return connect.apply(this, args)
  }
}

function tooBusy() {
  return unavailable('The service is very busy. Try again in a moment.')
}
