import type { Db } from '../database/statement.ts'
import { storableJson } from '../runs/storable-json.ts'
import { enqueue, type EnqueuedRow } from './transitions.ts'

export interface NewRun {
  readonly id: string
  readonly ownerId: string
  readonly valId: string
  readonly source: 'api' | 'schedule'
  /** null, like none: there are no arguments. */
  readonly args: readonly unknown[] | null
  /** undefined: as set for the val. */
  readonly retry?: { readonly attempts: number; readonly backoffMs: number } | null | undefined
}

/** Within the given transaction. Returns the ids that were taken; a val that is gone gets none. */
export async function enqueueRuns(db: Db, runs: readonly NewRun[]): Promise<readonly string[]> {
  return (await enqueueRows(db, runs)).map(({ id }) => id)
}

/** The same, with what there is to say of each. */
export async function enqueueRows(db: Db, runs: readonly NewRun[]): Promise<readonly EnqueuedRow[]> {
  if (runs.length === 0) return []
  const { rows } = await enqueue(db, { runs: storableJson(runs.map(toRow)) })
  return rows
}

function toRow({ retry, args: given, ...rest }: NewRun) {
  const run = { ...rest, args: given === null || given.length === 0 ? null : given }
  const { attempts, backoffMs } = retry === null ? { attempts: 1, backoffMs: 0 } : (retry ?? {})
  const argsBytes = run.args === null ? 0 : Buffer.byteLength(JSON.stringify(run.args))
  return { ...run, argsBytes, attempts, backoffMs }
}
