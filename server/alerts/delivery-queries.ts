import { sql } from 'kysely'
import { statement } from '../database/statement.ts'

/** A delivery with all that it takes to make it. */
export interface DeliveryRow {
  readonly id: string
  readonly owner_id: string
  readonly val_id: string
  readonly run: { readonly id: string }
  readonly silenced_until: Date
  /** After this attempt; less than none if the last one was never concluded. */
  readonly attempts_left: number
  readonly url: string
  readonly secret_id: string
  readonly key_id: string
  readonly sealed_value: Buffer
  readonly val_name: string
  readonly username: string
}

interface TakeArgs {
  limit: number
  lease_ms: number
  /** Whose turn it is not, because others of theirs are under way. */
  busy_owners: readonly string[]
  of_owner_max: number
  window: number
}

/**
 * Takes deliveries that are due, so that nobody else does while the lease lasts. The oldest come first, a few of each
 * owner. Those of a val that is gone are not given out, and wait for its purge.
 */
export const takeDeliveries = statement<TakeArgs, DeliveryRow>(
  (arg) => sql<DeliveryRow>`
    WITH oldest AS MATERIALIZED (
      SELECT id, owner_id, due_at FROM deliveries
      WHERE due_at <= now() AND owner_id <> ALL(${arg('busy_owners')}::uuid[])
      ORDER BY due_at LIMIT ${arg('window')}
    ), fair AS MATERIALIZED (
      SELECT id FROM (
        SELECT id, due_at, row_number() OVER (PARTITION BY owner_id ORDER BY due_at) AS turn FROM oldest) numbered
      WHERE turn <= ${arg('of_owner_max')} ORDER BY due_at LIMIT ${arg('limit')}
    ), mine AS MATERIALIZED (
      SELECT d.id FROM fair JOIN deliveries d ON d.id = fair.id
      WHERE d.due_at <= now() FOR UPDATE OF d SKIP LOCKED
    ), taken AS (
      UPDATE deliveries d SET due_at = now() + ${arg('lease_ms')}::integer * interval '1 millisecond',
        attempts_left = d.attempts_left - 1
      FROM mine WHERE d.id = mine.id
      RETURNING d.id, d.owner_id, d.val_id, d.run, d.silenced_until, d.attempts_left
    )
    SELECT t.*, a.url, a.id AS secret_id, a.key_id, a.sealed_value, v.name AS val_name, u.username
    FROM taken t JOIN alerts a ON a.val_id = t.val_id JOIN vals v ON v.id = t.val_id
      JOIN users u ON u.id = v.owner_id`,
)

/** Of the attempt that took it: one that comes back after its lease changes nothing. */
interface TakenArgs {
  id: string
  attempts_left: number
}

interface AttemptArgs extends TakenArgs {
  ok: boolean
  status: number | null
  message: string | null
}

/** It is delivered, or was tried often enough. */
export const endDelivery = statement<AttemptArgs, { val_id: string }>(
  (arg) => sql<{ val_id: string }>`
    WITH ended AS (
      DELETE FROM deliveries WHERE id = ${arg('id')} AND attempts_left = ${arg('attempts_left')} RETURNING val_id
    )
    UPDATE alerts a SET last_attempt_at = now(), last_attempt_ok = ${arg('ok')},
      last_attempt_status = ${arg('status')}, last_attempt_message = ${arg('message')}
    FROM ended WHERE a.val_id = ended.val_id RETURNING a.val_id`,
)

/** It will be tried again. */
export const pauseDelivery = statement<AttemptArgs & { pause_ms: number }, { val_id: string }>(
  (arg) => sql<{ val_id: string }>`
    WITH paused AS (
      UPDATE deliveries SET due_at = now() + ${arg('pause_ms')}::integer * interval '1 millisecond'
      WHERE id = ${arg('id')} AND attempts_left = ${arg('attempts_left')} RETURNING val_id
    )
    UPDATE alerts a SET last_attempt_at = now(), last_attempt_ok = ${arg('ok')},
      last_attempt_status = ${arg('status')}, last_attempt_message = ${arg('message')}
    FROM paused WHERE a.val_id = paused.val_id RETURNING a.val_id`,
)

/** Nobody could try it: that was no attempt. */
export const postponeDelivery = statement<TakenArgs & { pause_ms: number }, never>(
  (arg) => sql<never>`
    UPDATE deliveries SET due_at = now() + ${arg('pause_ms')}::integer * interval '1 millisecond',
      attempts_left = attempts_left + 1
    WHERE id = ${arg('id')} AND attempts_left = ${arg('attempts_left')}`,
)
