import { createHmac } from 'node:crypto'
import { timeOf } from '../database/ids.ts'
import type { DeliveryRow } from './delivery-queries.ts'

export interface Webhook {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

interface Signing {
  readonly secret: string
  readonly baseUrl: string
  readonly nowMs: number
}

/**
 * What is posted, with the headers of Standard Webhooks. The id is the same in every attempt, so that whoever gets it
 * twice can tell; the timestamp is the attempt's.
 */
export function writeWebhook(delivery: DeliveryRow, { secret, baseUrl, nowMs }: Signing): Webhook {
  const body = JSON.stringify(bodyOf(delivery, baseUrl))
  const timestamp = String(Math.floor(nowMs / 1_000))
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Valley alerts',
    'webhook-id': delivery.id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatureOf(secret, `${delivery.id}.${timestamp}.${body}`),
  }
  return { headers, body }
}

/** HMAC-SHA256 over `id.timestamp.body`, with what the secret encodes. */
export function signatureOf(secret: string, signed: string): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
}

function bodyOf(delivery: DeliveryRow, baseUrl: string) {
  const { id, run, val_id, val_name, owner_id, username, silenced_until } = delivery
  return {
    type: 'run.failed',
    timestamp: timeOf(id).toISOString(),
    data: {
      run,
      val: { id: val_id, name: val_name, author: { id: owner_id, username } },
      links: { run: `${baseUrl}/v1/runs/${run.id}` },
      silencedUntil: silenced_until.toISOString(),
    },
  }
}
