import type { Bus } from '@valley/bus/connect-bus.ts'
import type { EnvironmentKeys } from '../env/keys.ts'
import { limits } from '../limits.ts'
import type { Observations } from '../observations.ts'
import type { DeliveryRow } from './delivery-queries.ts'
import { openSecretOrNull } from './seal-secret.ts'
import { writeWebhook } from './webhook.ts'

/** How an attempt went. Not tried: no runner was there, or none had room. */
export type Attempt =
  | { readonly kind: 'delivered'; readonly status: number }
  | { readonly kind: 'failed'; readonly status: number | null; readonly message: string }
  | { readonly kind: 'not_tried' }

export interface Attempting {
  readonly bus: Pick<Bus, 'request'>
  readonly environmentKeys: EnvironmentKeys
  readonly observe: Pick<Observations, 'alertSecretUnreadable'>
  readonly baseUrl: () => string
}

/**
 * Signs it and asks a runner to post it from inside a sandbox. A server never does that itself: it is in a network
 * where the address that a user chose may lead anywhere. The secret stays here.
 */
export async function attemptDelivery(
  { bus, environmentKeys, observe, baseUrl }: Attempting,
  delivery: DeliveryRow,
  signal: AbortSignal,
): Promise<Attempt> {
  if (delivery.attempts_left < 0) return failed('The last attempt was interrupted.')
  const secret = openSecretOrNull(environmentKeys, delivery)
  if (secret === null) {
    observe.alertSecretUnreadable(delivery.val_id)
    return failed('The signing secret cannot be read. Make a new one with rotateSecret.')
  }
  const webhook = writeWebhook(delivery, { secret, baseUrl: baseUrl(), nowMs: Date.now() })
  const { secret_id: alertsId, owner_id: ownerId, url } = delivery
  const reply = await bus.request(
    'deliverAlert',
    { alertsId, ownerId, url, ...webhook },
    { timeoutMs: limits.deliveryTimeoutMs, signal },
  )
  if (reply === null || reply.kind === 'unavailable') return { kind: 'not_tried' }
  return reply.kind === 'answered' ? judge(reply.status) : failed(reply.message)
}

function judge(status: number): Attempt {
  if (status >= 200 && status < 300) return { kind: 'delivered', status }
  const isRedirect = status >= 300 && status < 400
  const why = isRedirect ? 'It redirected, which is not followed' : 'It did not take the alert'
  return { kind: 'failed', status, message: `${why}: status ${status}.` }
}

function failed(message: string): Attempt {
  return { kind: 'failed', status: null, message }
}
