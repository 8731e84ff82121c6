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

interface WalkArgs {
  after_owner: string
  walked: number
}

export interface OwnerRow {
  readonly owner_id: string
  readonly is_due: boolean
}

/** The next owners who have deliveries, in the order of their ids: what it costs does not depend on how many those are. */
export const walkOwners = statement<WalkArgs, OwnerRow>(
  (arg) => sql<OwnerRow>`
    WITH RECURSIVE owners (owner_id, step) AS (
      SELECT (SELECT d.owner_id FROM deliveries d WHERE d.owner_id > ${arg('after_owner')}::uuid
        ORDER BY d.owner_id LIMIT 1), 1
      UNION ALL
      SELECT (SELECT d.owner_id FROM deliveries d WHERE d.owner_id > o.owner_id ORDER BY d.owner_id LIMIT 1), o.step + 1
      FROM owners o WHERE o.owner_id IS NOT NULL AND o.step < ${arg('walked')}::integer
    )
    SELECT o.owner_id, coalesce(
      (SELECT true FROM deliveries d WHERE d.owner_id = o.owner_id AND d.due_at <= now() LIMIT 1), false) AS is_due
    FROM owners o WHERE o.owner_id IS NOT NULL ORDER BY o.step`,
)

interface TakeArgs {
  owners: readonly string[]
  limit: number
  of_owner_max: number
  lease_ms: number
}

/**
 * Takes deliveries of these owners that are due, the oldest of each, so that nobody else does while the lease lasts.
 * Those of a val that is gone are not given out, and wait for its purge.
 */
export const takeDeliveries = statement<TakeArgs, DeliveryRow>(
  (arg) => sql<DeliveryRow>`
    WITH fair AS MATERIALIZED (
      SELECT d.id FROM unnest(${arg('owners')}::uuid[]) WITH ORDINALITY AS o (owner_id, place) CROSS JOIN LATERAL (
        SELECT d.id, row_number() OVER (ORDER BY d.due_at) AS turn FROM deliveries d
        WHERE d.owner_id = o.owner_id AND d.due_at <= now() ORDER BY d.due_at LIMIT ${arg('of_owner_max')}) d
      ORDER BY d.turn, o.place LIMIT ${arg('limit')}
    ), mine AS MATERIALIZED (
      SELECT d.id FROM deliveries d WHERE d.id = ANY(ARRAY(SELECT fair.id FROM fair)) AND d.due_at <= now()
      FOR UPDATE SKIP LOCKED
    ), taken AS (
      UPDATE deliveries d SET due_at = now() + ${arg('lease_ms')}::integer * interval '1 millisecond',
        attempts_left = d.attempts_left - 1
      WHERE d.id = ANY(ARRAY(SELECT mine.id FROM mine))
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
