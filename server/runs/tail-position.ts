import type { Position } from '@valley/bus/position.ts'

/** The place of one event: its message, and which of the message's events it is. */
export interface TailPosition extends Position {
  /** null: after the last one. */
  readonly index: number | null
}

/** As clients get it; what is in it is nobody's business but ours. */
export function writeTailPosition({ epoch, sequence, index }: TailPosition): string {
  const parts = index === null ? [epoch, sequence] : [epoch, sequence, index]
  return parts.map((part) => part.toString(36)).join('-')
}

/** null for what we did not write. */
export function readTailPositionOrNull(text: string): TailPosition | null {
  if (!/^[0-9a-z]{1,10}-[0-9a-z]{1,10}(-[0-9a-z]{1,6})?$/.test(text)) return null
  const [epoch = 0, sequence = 0, index = null] = text.split('-').map((part) => Number.parseInt(part, 36))
  return { epoch, sequence, index }
}

/** The whole messages that were seen. One that was seen in part has to come once more. */
export function wholeBefore({ epoch, sequence, index }: TailPosition): Position {
  return { epoch, sequence: index === null ? sequence : sequence - 1 }
}

/** How many events of a message were seen already. */
export function seenOf({ epoch, sequence }: Position, seen: TailPosition | null): number {
  const isTheOne = seen !== null && seen.index !== null && seen.epoch === epoch && seen.sequence === sequence
  return isTheOne ? (seen.index ?? -1) + 1 : 0
}
