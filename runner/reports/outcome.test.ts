import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judge, type Outcome } from './outcome.ts'

const error = { name: 'RangeError', message: 'far' }

const outcomes: readonly (readonly [Outcome, ReturnType<typeof judge>['status'], number, string | null])[] = [
  [{ kind: 'answered' }, 'succeeded', 200, null],
  [{ kind: 'threw', error }, 'failed', 500, 'RangeError'],
  [{ kind: 'load_failed', error }, 'failed', 500, 'RangeError'],
  [{ kind: 'handles_nothing' }, 'failed', 500, 'NothingToCall'],
  [{ kind: 'timed_out', waitedFor: 'load' }, 'timed_out', 504, 'TimedOut'],
  [{ kind: 'timed_out', waitedFor: 'first_byte' }, 'timed_out', 504, 'TimedOut'],
  [{ kind: 'timed_out', waitedFor: 'end' }, 'timed_out', 504, 'TimedOut'],
  [{ kind: 'client_left' }, 'canceled', 499, 'ClientLeft'],
  [{ kind: 'broke_off' }, 'failed', 502, 'AnswerBrokeOff'],
  [{ kind: 'answer_refused', why: 'too long' }, 'failed', 502, 'AnswerRefused'],
  [{ kind: 'body_too_large' }, 'failed', 413, 'BodyTooLarge'],
  [{ kind: 'bad_target' }, 'failed', 400, 'BadTarget'],
  [{ kind: 'overloaded', why: 'queue_full' }, 'failed', 503, 'Overloaded'],
  [{ kind: 'overloaded', why: 'queue_wait' }, 'failed', 503, 'Overloaded'],
  [{ kind: 'overloaded', why: 'crashing' }, 'failed', 503, 'Overloaded'],
  [{ kind: 'worker_ended', cause: 'out_of_memory' }, 'failed', 502, 'OutOfMemory'],
  [{ kind: 'worker_ended', cause: 'exited' }, 'failed', 502, 'WorkerExited'],
  [{ kind: 'worker_ended', cause: 'stalled' }, 'timed_out', 504, 'WorkerKilled'],
  [{ kind: 'worker_ended', cause: 'spoke_nonsense' }, 'failed', 502, 'WorkerKilled'],
  [{ kind: 'worker_ended', cause: 'boot_failed' }, 'failed', 503, 'BootFailed'],
  [{ kind: 'worker_ended', cause: 'evicted' }, 'failed', 503, 'WorkerKilled'],
  [{ kind: 'worker_ended', cause: 'stopping' }, 'failed', 503, 'RunnerStopped'],
]

for (const [outcome, status, httpStatus, name] of outcomes) {
  test(`${Object.values(outcome).map(String).join(' ')} is ${status} and answered with ${httpStatus}`, () => {
    const verdict = judge(outcome)
    assert.deepEqual(
      [verdict.status, verdict.httpStatus, verdict.error?.name ?? null],
      [status, httpStatus, name],
    )
    assert.notEqual(verdict.error?.message, '')
  })
}
