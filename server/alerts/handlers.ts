import type { Alerts } from '@valley/contract/alerts.ts'
import { newId } from '../database/ids.ts'
import { requireKey } from '../env/require-key.ts'
import { Fault } from '../fault.ts'
import { inTransaction } from '../in-transaction.ts'
import type { Handler } from '../reply.ts'
import { findOwnValOrHide, lockOwnValOrHide } from '../vals/find-val.ts'
import { requirePublicUrl } from './public-url.ts'
import { type AlertsRow, deleteAlertsOf, selectAlerts, updateAlerts, upsertAlerts } from './queries.ts'
import { newSecret, sealSecret } from './seal-secret.ts'

export const getAlerts: Handler<'getAlerts'> = async ({ db }, caller, { params }) => {
  const { id } = await findOwnValOrHide(db, caller, params.val_id)
  const [row] = (await selectAlerts(db, { val_id: id })).rows
  if (!row)
    throw new Fault('not_found', 'This val tells nobody of its failing runs. PUT a url to change that.')
  return presentAlerts(row)
}

export const setAlerts: Handler<'setAlerts'> = async (context, caller, { params, body }) => {
  requirePublicUrl(body.url)
  const key = requireKey(context.environmentKeys, 'alerts')
  const place = { owner_id: caller.id, val_id: params.val_id }
  const webhook = { ...place, url: body.url, quiet_ms: body.quietSeconds * 1_000 }
  return inTransaction(context, async ({ db }) => {
    await lockOwnValOrHide(db, caller, params.val_id)
    const { rows: known } = body.rotateSecret ? { rows: [] } : await updateAlerts(db, webhook)
    if (known[0]) return presentAlerts(known[0])
    const secret = newSecret()
    const { rows } = await upsertAlerts(db, { ...webhook, ...sealSecret(key, place, secret), id: newId() })
    return { ...presentAlerts(only(rows)), secret }
  })
}

export const deleteAlerts: Handler<'deleteAlerts'> = async ({ db }, caller, { params }) => {
  const { id } = await findOwnValOrHide(db, caller, params.val_id)
  await deleteAlertsOf(db, { val_id: id })
}

function presentAlerts(row: AlertsRow): Alerts {
  return {
    url: row.url,
    quietSeconds: row.quiet_ms / 1_000,
    lastAlertAt: row.last_raised_at?.toISOString() ?? null,
    lastDelivery: row.last_attempt_at && {
      at: row.last_attempt_at.toISOString(),
      ok: row.last_attempt_ok ?? false,
      status: row.last_attempt_status,
      message: row.last_attempt_message,
    },
  }
}

function only(rows: readonly AlertsRow[]): AlertsRow {
  const [row] = rows
  if (!row) throw new Error('An upsert returned no row.')
  return row
}
