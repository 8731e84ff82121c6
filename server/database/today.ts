import { sql } from 'kysely'

/** Today, by the database's clock and by UTC. */
export const today = sql`(now() AT TIME ZONE 'UTC')::date`
