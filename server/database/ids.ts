import { v7 } from 'uuid'

/** A new id: a UUIDv7, so that ids order by the time at which they were made. */
export function newId(): string {
  return v7()
}

/** The moment at which an id was made. */
export function timeOf(id: string): Date {
  return new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16))
}

export function isId(value: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(value)
}

/** Lower and upper than every id. */
export const lowestId = '00000000-0000-0000-0000-000000000000'
export const highestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** No id made at or before the moment is above this one, none made after it is below. */
export function lastIdOf(moment: Date): string {
  const hex = Math.max(0, Math.floor(moment.getTime())).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-ffff-ffff-ffffffffffff`
}
