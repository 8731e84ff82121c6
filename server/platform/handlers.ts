import { sql } from 'kysely'
import { openapi } from '@valley/contract/openapi.ts'
import { Fault } from '../fault.ts'
import { docsPage } from './docs.ts'
import { limits } from '../limits.ts'
import type { Metrics } from '../metrics.ts'
import type { Handler } from '../reply.ts'

const document = openapi()

export const getHealth: Handler<'getHealth'> = async () => ({ ok: true })

/** NATS is reported but not needed: without it, changes are noticed a little later. */
export const getReadiness: Handler<'getReadiness'> = async ({ db, bus }) => {
  try {
    await sql`SELECT 1`.execute(db)
  } catch (cause) {
    throw new Fault(
      'unavailable',
      'The database does not answer. Is it running, and is DATABASE_URL right?',
      {
        cause,
        headers: { 'retry-after': String(limits.retryAfterSeconds) },
      },
    )
  }
  return { ready: true, database: 'up', bus: bus.state }
}

export function getMetricsFrom({ register }: Metrics): Handler<'getMetrics'> {
  return () => register.metrics()
}

export const getOpenapi: Handler<'getOpenapi'> = async () => document

export const getDocs: Handler<'getDocs'> = async () => docsPage
