import type { Bus } from '@valley/bus/connect-bus.ts'
import type { RequestBody } from '@valley/bus/requests.ts'
import type { Db } from '../database/statement.ts'
import type { Observations } from '../observations.ts'
import { answerOrUnavailable } from '../serve-runners.ts'
import { type ClaimBounds, ClaimDesk } from './claim-runs.ts'
import { hearBeat } from './hear-beat.ts'
import type { Lost } from './lose-runs.ts'
import type { Queue } from './queue.ts'
import { giveBackRuns } from './transitions.ts'

interface QueueServices {
  readonly db: Db
  readonly queue: Pick<Queue, 'wake'>
  readonly bounds: ClaimBounds
  readonly observe: Observations
  /** Whether reports wait to be recorded, or it cannot be said. */
  readonly isRecorderBehind: () => Promise<boolean>
  readonly onLost: (lost: Lost) => void
}

/** Answers runners that want runs, have some, or cannot take those that they have. */
export function serveQueue(bus: Pick<Bus, 'serve'>, services: QueueServices): void {
  const { db, queue, bounds, observe, isRecorderBehind, onLost } = services
  const desk = new ClaimDesk(bounds)
  bus.serve('claimRuns', async (told) => answerOrUnavailable(observe, 'claimRuns', desk.claim(db, told)))
  const hear = async (told: RequestBody<'beat'>) => {
    const { reply, lost, hasGivenBack } = await hearBeat(db, told, isRecorderBehind)
    onLost(lost)
    if (hasGivenBack) queue.wake()
    return reply
  }
  const takeBack = async ({ runnerId, claimNumber, runIds }: RequestBody<'handBackRuns'>) => {
    await giveBackRuns(db, { runner_id: runnerId, claim_number: claimNumber, run_ids: runIds })
    queue.wake()
    return { kind: 'taken' } as const
  }
  bus.serve('beat', async (told) => answerOrUnavailable(observe, 'beat', hear(told)))
  bus.serve('handBackRuns', async (told) => answerOrUnavailable(observe, 'handBackRuns', takeBack(told)))
}
