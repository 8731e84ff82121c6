import type { IncomingMessage } from 'node:http'
import type { Head } from '@valley/bus/requests.ts'
import type { HeadCache, HeadFound } from '../heads/head-cache.ts'
import type { Trouble } from './error-page.ts'
import { hostLabelOrNull } from './host-label.ts'
import type { OwnerGate } from './owner-gate.ts'
import { headUnknown, noSuchVal, quotaExceeded } from './trouble.ts'

export type Admission =
  | { readonly kind: 'admitted'; readonly head: Head }
  | { readonly kind: 'turned_away'; readonly trouble: Trouble }

interface Doors {
  readonly heads: HeadCache
  readonly gate: OwnerGate
  readonly domain: string
}

/** Which val a request is for, and whether its client may call it. At once for a public val that is known. */
export function admitRequest(request: IncomingMessage, doors: Doors): Admission | Promise<Admission> {
  const label = hostLabelOrNull(request.headers.host, doors.domain)
  if (label === null) return turnAway(noSuchVal)
  const found = doors.heads.find(label)
  return found instanceof Promise ? found.then((head) => admit(head)) : admit(found)

  function admit(found: HeadFound): Admission | Promise<Admission> {
    if (found.kind === 'unavailable') return turnAway(headUnknown)
    if (found.kind === 'missing' || found.head.type !== 'http') return turnAway(noSuchVal)
    if (found.head.privacy !== 'private') return unlessOverQuota(found.head)
    return admitOwner(request, found.head, doors.gate)
  }
}

async function admitOwner(request: IncomingMessage, head: Head, gate: OwnerGate): Promise<Admission> {
  const state = await gate.check(request, head)
  if (state === 'open') return unlessOverQuota(head)
  return turnAway(state === 'closed' ? noSuchVal : headUnknown)
}

function unlessOverQuota(head: Head): Admission {
  return head.isOverQuota ? turnAway(quotaExceeded) : { kind: 'admitted', head }
}

function turnAway(trouble: Trouble): Admission {
  return { kind: 'turned_away', trouble }
}
