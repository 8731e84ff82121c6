/** Why a worker is gone. The first cause wins: what follows from it is not another one. */
export type EndCause =
  /** In the course of things. */
  | 'unused'
  | 'evicted'
  | 'outdated'
  | 'stopping'
  /** By what the val did. */
  | 'out_of_memory'
  | 'exited'
  | 'stalled'
  | 'restless'
  | 'spoke_nonsense'
  | 'load_failed'
  | 'load_timed_out'
  /** By what we or the machine did. */
  | 'boot_failed'

const ownFaults: ReadonlySet<EndCause> = new Set([
  'out_of_memory',
  'exited',
  'stalled',
  'restless',
  'spoke_nonsense',
  'load_failed',
  'load_timed_out',
])

/** Whether the val brought it on itself, so that its next boot may wait. */
export function isValsFault(cause: EndCause): boolean {
  return ownFaults.has(cause)
}
