import type { RunDetails } from '@valley/contract/runs.ts'
import type { Caller } from '../caller.ts'
import { presentRunDetails } from '../runs/present-run.ts'
import type { EnqueuedRow } from './transitions.ts'

interface NewRun {
  readonly id: string
  readonly valId: string
  readonly source: RunDetails['source']
  readonly args: RunDetails['args']
}

/** A run that has just been put into the queue, as it will be read until it begins. */
export function presentQueued(
  { name, privacy, version }: EnqueuedRow,
  caller: Caller,
  { id, valId, source, args }: NewRun,
): RunDetails {
  return presentRunDetails({
    id,
    val_id: valId,
    val_name: name,
    val_privacy: privacy,
    val_version: version,
    val_owner_id: caller.id,
    val_username: caller.username,
    source,
    status: 'queued',
    args,
    parent_id: null,
    error: null,
    started_at: null,
    ended_at: null,
    return_value: null,
    return_value_cut: null,
    logs: null,
    request: null,
    response: null,
    timings: null,
    memory_peak_bytes: null,
  })
}
