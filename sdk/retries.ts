import { limits } from './limits.ts'
import type { ValleyError } from './valley-error.ts'

interface Situation {
  /** How many attempts have failed so far. */
  readonly failures: number
  readonly retriesMax: number
  /** Sending the same again has the same effect as sending it once. */
  readonly repeatable: boolean
}

/**
 * How long to wait before the same request is sent again; null when it must not or need not be.
 * A 429 may always be repeated: the server turned the request away before it did anything.
 */
export function retryWaitMs(error: ValleyError, situation: Situation): number | null {
  const { failures, retriesMax, repeatable } = situation
  if (failures > retriesMax) return null
  if (error.headers?.get('x-should-retry') === 'false') return null
  if (!wasTurnedAway(error) && !(repeatable && mayPass(error))) return null
  return error.retryAfterMs === undefined ? backoffMs(failures) : patienceMs(error.retryAfterMs)
}

/** Nothing happened on the server; any other failure leaves it open. */
export function wasTurnedAway({ status }: ValleyError): boolean {
  return status === 429
}

/** 502 and 504 are how a proxy reports the network error between itself and the server. */
function mayPass({ code, status }: ValleyError): boolean {
  if (code === 'network' || code === 'timeout') return true
  return status === 502 || status === 503 || status === 504
}

/** Exponential with full jitter: clients that failed together do not come back together. */
function backoffMs(failures: number): number {
  return Math.random() * Math.min(limits.backoffMsMax, limits.backoffMsFirst * 2 ** (failures - 1))
}

function patienceMs(retryAfterMs: number): number | null {
  if (retryAfterMs > limits.retryAfterMsMax) return null
  return retryAfterMs + Math.random() * limits.retryAfterJitterMs
}
