/** A message's place in a stream. A stream that was lost and made again counts from one in another epoch. */
export interface Position {
  /** When the stream was made, in milliseconds. */
  readonly epoch: number
  readonly sequence: number
}

interface StreamState {
  readonly epoch: number
  /** Of the messages that are still kept; above lastSequence when none is. */
  readonly firstSequence: number
  readonly lastSequence: number
}

/**
 * After which position of the stream, as it is now, a watch goes on. It is a gap when messages after the asked position
 * are no longer kept: of the watched val or of others, which nobody can tell any more.
 */
export function startAfter(asked: Position | undefined, stream: StreamState) {
  const { epoch, firstSequence, lastSequence } = stream
  if (asked === undefined) return { position: { epoch, sequence: lastSequence }, isGap: false }
  const isSameStream = asked.epoch === epoch
  // Nobody was ever given such a position, so that what is kept may well have been seen.
  if (isSameStream && asked.sequence > lastSequence)
    return { position: { epoch, sequence: lastSequence }, isGap: true }
  if (isSameStream && asked.sequence >= firstSequence - 1) return { position: asked, isGap: false }
  return { position: { epoch, sequence: Math.max(0, firstSequence - 1) }, isGap: true }
}
