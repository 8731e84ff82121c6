import { sql } from 'kysely'
import { statement } from '../database/statement.ts'

export interface AlertsRow {
  readonly url: string
  readonly quiet_ms: number
  readonly last_raised_at: Date | null
  readonly last_attempt_at: Date | null
  readonly last_attempt_ok: boolean | null
  readonly last_attempt_status: number | null
  readonly last_attempt_message: string | null
}

const shownColumns = sql`a.url, a.quiet_ms, a.last_raised_at, a.last_attempt_at, a.last_attempt_ok,
  a.last_attempt_status, a.last_attempt_message`

export const selectAlerts = statement<{ val_id: string }, AlertsRow>(
  (arg) => sql<AlertsRow>`SELECT ${shownColumns} FROM alerts a WHERE a.val_id = ${arg('val_id')}`,
)

interface WebhookArgs {
  val_id: string
  url: string
  quiet_ms: number
}

/** What was said to another address, and the quiet after it, does not count for this one. */
const forgetOtherUrl = sql`
  last_raised_at = CASE WHEN a.url = excluded.url THEN a.last_raised_at END,
  last_attempt_at = CASE WHEN a.url = excluded.url THEN a.last_attempt_at END,
  last_attempt_ok = CASE WHEN a.url = excluded.url THEN a.last_attempt_ok END,
  last_attempt_status = CASE WHEN a.url = excluded.url THEN a.last_attempt_status END,
  last_attempt_message = CASE WHEN a.url = excluded.url THEN a.last_attempt_message END`

/** Leaves the secret alone; no row where there is none. */
export const updateAlerts = statement<WebhookArgs, AlertsRow>(
  (arg) => sql<AlertsRow>`
    UPDATE alerts a SET url = excluded.url, quiet_ms = excluded.quiet_ms, ${forgetOtherUrl}
    FROM (SELECT ${arg('url')}::text AS url, ${arg('quiet_ms')}::integer AS quiet_ms) excluded
    WHERE a.val_id = ${arg('val_id')}
    RETURNING ${shownColumns}`,
)

interface SecretArgs extends WebhookArgs {
  owner_id: string
  id: string
  key_id: string
  sealed_value: Buffer
}

export const upsertAlerts = statement<SecretArgs, AlertsRow>(
  (arg) => sql<AlertsRow>`
    INSERT INTO alerts AS a (val_id, owner_id, url, quiet_ms, id, key_id, sealed_value)
    VALUES (${arg('val_id')}, ${arg('owner_id')}, ${arg('url')}, ${arg('quiet_ms')}, ${arg('id')}, ${arg('key_id')},
      ${arg('sealed_value')})
    ON CONFLICT (val_id) DO UPDATE SET url = excluded.url, quiet_ms = excluded.quiet_ms, id = excluded.id,
      key_id = excluded.key_id, sealed_value = excluded.sealed_value, ${forgetOtherUrl}
    RETURNING ${shownColumns}`,
)

/** What is still to be delivered goes with it. */
export const deleteAlertsOf = statement<{ val_id: string }, never>(
  (arg) => sql<never>`DELETE FROM alerts WHERE val_id = ${arg('val_id')}`,
)

/**
 * Raises an alert for each of the given runs, at most one of each val, unless its val is quiet or has no alerts. Whoever
 * comes second waits for the first, in the order of ids, and then finds the quiet begun. A run that ended before the
 * last alert was raised has had its turn: its report has come once more.
 */
export const insertDeliveries = statement<{ failing: string; attempts: number }, { id: string }>(
  (arg) => sql<{ id: string }>`
    WITH failing AS MATERIALIZED (
      SELECT * FROM jsonb_to_recordset(${arg('failing')}::jsonb) AS f(
        "deliveryId" uuid, "valId" uuid, "ownerId" uuid, "endedAt" timestamptz, run jsonb)
    ), due AS MATERIALIZED (
      SELECT a.val_id, f."deliveryId", f.run
      FROM failing f JOIN alerts a ON a.val_id = f."valId" AND a.owner_id = f."ownerId"
        JOIN vals v ON v.id = a.val_id
      WHERE a.last_raised_at IS NULL
        OR (a.last_raised_at <= now() - a.quiet_ms * interval '1 millisecond' AND f."endedAt" > a.last_raised_at)
      ORDER BY a.val_id FOR NO KEY UPDATE OF a
    ), raised AS (
      UPDATE alerts a SET last_raised_at = now() FROM due WHERE a.val_id = due.val_id
      RETURNING a.val_id, a.owner_id, a.quiet_ms, due."deliveryId", due.run
    )
    INSERT INTO deliveries (id, owner_id, val_id, run, silenced_until, due_at, attempts_left)
    SELECT "deliveryId", owner_id, val_id, run, now() + quiet_ms * interval '1 millisecond', now(),
      ${arg('attempts')}::integer
    FROM raised RETURNING id`,
)
