import type { Watch, Watched } from '@valley/bus/watch-stream.ts'
import type { EventOf } from '@valley/contract/operation.ts'
import type { runs } from '@valley/contract/runs.ts'
import type { Piece } from '../event-stream.ts'
import { limits } from '../limits.ts'
import { seenOf, type TailPosition, writeTailPosition } from './tail-position.ts'
import { isPulse, withPulses } from './with-pulses.ts'

type TailEvent = EventOf<(typeof runs)['tailVal']>

interface Tail {
  /** Where the client was, if it was here before. */
  readonly seen: TailPosition | null
  /** The client was here before, but where is not to be made out. */
  readonly isLost: boolean
  /** Asked now and then: whether the caller may still watch. */
  readonly mayGoOn: () => Promise<boolean>
}

/** A watch as the client gets it, event by event, with a sign of life when nothing happens. */
export async function* piecesOf(
  { position, events }: Watch,
  { seen, isLost, mayGoOn }: Tail,
): AsyncGenerator<Piece<TailEvent>> {
  const start = { ...position, index: null }
  yield { kind: 'start', id: writeTailPosition(seen ?? start), retryMs: limits.tailRetryMs }
  if (isLost) yield gapAt(start)
  let checkedAt = Date.now()
  for await (const watched of withPulses(events, limits.tailHeartbeatMs)) {
    if (Date.now() - checkedAt >= limits.tailHeartbeatMs) {
      if (!(await mayGoOn())) return
      checkedAt = Date.now()
    }
    if (isPulse(watched)) yield { kind: 'heartbeat' }
    else yield* piecesOfOne(watched, seen)
  }
}

function* piecesOfOne(watched: Watched, seen: TailPosition | null): Generator<Piece<TailEvent>> {
  const { kind, position } = watched
  if (kind === 'gap') {
    yield gapAt({ ...position, index: null })
    return
  }
  const { events } = watched.body
  for (const [index, { kind: event, ...data }] of events.entries()) {
    if (index < seenOf(position, seen)) continue
    const id = writeTailPosition({ ...position, index: index === events.length - 1 ? null : index })
    yield { kind: 'event', event: { event, id, data } as TailEvent }
  }
}

function gapAt(position: TailPosition): Piece<TailEvent> {
  const data = { message: 'Events before this one may be missing: they are no longer kept.' }
  return { kind: 'event', event: { event: 'gap', id: writeTailPosition(position), data } }
}
