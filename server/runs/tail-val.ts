import type { Watch } from '@valley/bus/watch-stream.ts'
import type { Caller } from '../caller.ts'
import type { Context } from '../context.ts'
import { passingDatabaseFault } from '../database/database-fault.ts'
import { EventStream } from '../event-stream.ts'
import { Fault, unavailable } from '../fault.ts'
import type { Handler } from '../reply.ts'
import { findOwnValOrHide } from '../vals/find-val.ts'
import { selectMayTail } from './queries.ts'
import { piecesOf } from './tail-pieces.ts'
import { readTailPositionOrNull, wholeBefore } from './tail-position.ts'
import type { Tails } from './tails.ts'

/** Watches a val of the caller's until the client leaves, the server closes, or the caller may no longer watch it. */
export function tailValWith(tails: Tails): Handler<'tailVal'> {
  return async (context, caller, { params, query, lastEventId }) => {
    const { id: valId } = await findOwnValOrHide(context.db, caller, params.val_id)
    const ending = new AbortController()
    const end = () => ending.abort()
    const place = tails.enter(caller.id, end)
    ending.signal.addEventListener('abort', () => place[Symbol.dispose]())
    try {
      const seenText = lastEventId ?? query.lastEventId
      const seen = seenText === undefined ? null : readTailPositionOrNull(seenText)
      const watch = await openWatch(context, valId, {
        after: seen === null ? undefined : wholeBefore(seen),
        signal: ending.signal,
      })
      const mayGoOn = () => mayTail(context, caller, valId)
      const isLost = seenText !== undefined && seen === null
      return new EventStream(piecesOf(watch, { seen, isLost, mayGoOn }), end)
    } catch (error) {
      end()
      throw error
    }
  }
}

type WatchOptions = Parameters<Context['bus']['watch']>[2]

async function openWatch({ bus }: Context, valId: string, options: WatchOptions): Promise<Watch> {
  const watch = await bus.watch('TAIL', valId, options)
  if (watch === null) throw unavailable('Vals cannot be watched right now. Try again in a moment.')
  return watch
}

/** While the database cannot say, what was allowed stays allowed: nobody can revoke anything either. */
async function mayTail({ db }: Context, { tokenId, id }: Caller, valId: string): Promise<boolean> {
  try {
    const { rows } = await selectMayTail(db, { token_id: tokenId, owner_id: id, val_id: valId })
    return rows.length > 0
  } catch (error) {
    if (!(error instanceof Fault) && passingDatabaseFault(error) === null) throw error
    return true
  }
}
