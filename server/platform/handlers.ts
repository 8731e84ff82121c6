import { sql } from 'kysely'
import { openapi } from '@valley/contract/openapi.ts'
import type { Db } from '../database/statement.ts'
import { unavailable } from '../fault.ts'
import { docsPage } from './docs.ts'
import { limits } from '../limits.ts'
import type { Metrics } from '../metrics.ts'
import type { Handler } from '../reply.ts'

const document = openapi()

export const getHealth: Handler<'getHealth'> = async () => ({ ok: true })

/**
 * NATS is reported but not needed: without it, changes are noticed a little later. The route is open to everyone, so
 * the database is asked once for all who want to know at the same time, and at most once in readinessAgeMaxMs.
 */
export function createReadiness(): Handler<'getReadiness'> {
  let probe: Promise<unknown> = Promise.resolve()
  let until = 0
  return async ({ db, bus }) => {
    if (Date.now() >= until) {
      until = Date.now() + limits.readinessAgeMaxMs
      probe = probeDatabase(db)
    }
    await probe
    return { ready: true, database: 'up', bus: bus.state }
  }
}

async function probeDatabase(db: Db) {
  try {
    await sql`SELECT 1`.execute(db)
  } catch (cause) {
    throw unavailable('The database does not answer. Is it running, and is DATABASE_URL right?', cause)
  }
}

export function getMetricsFrom({ register }: Metrics): Handler<'getMetrics'> {
  return () => register.metrics()
}

export const getOpenapi: Handler<'getOpenapi'> = async () => document

export const getDocs: Handler<'getDocs'> = async () => docsPage
