import type { Val } from '@valley/contract/vals.ts'

/** What If-Match asks for: any, or the state that one of these ETags names. */
export type IfMatch = '*' | readonly ValState[]

/** The part of a val that a save replaces. Likes and references of others do not make an edit stale. */
export interface ValState {
  readonly version: number
  readonly updatedAtMs: number
}

/** Changes with everything that the answer shows; its first two parts name the state that If-Match compares. */
export function etagOf(val: Val): string {
  const { version, updatedAt, likeCount, referenceCount, author } = val
  return `"${version}-${Date.parse(updatedAt)}-${likeCount}-${referenceCount}-${author.username}"`
}

/** An ETag that is not one of ours names no state, so it never matches. */
export function parseIfMatch(header: string): IfMatch {
  if (header.trim() === '*') return '*'
  return [...header.matchAll(/"(\d{1,10})-(\d{1,15})-[^"]*"/g)].map(([, version, updatedAtMs]) => ({
    version: Number(version),
    updatedAtMs: Number(updatedAtMs),
  }))
}

export function matches(ifMatch: IfMatch | null, state: ValState): boolean {
  if (ifMatch === null || ifMatch === '*') return true
  return ifMatch.some(
    ({ version, updatedAtMs }) => version === state.version && updatedAtMs === state.updatedAtMs,
  )
}

/** Whether If-None-Match names this ETag, weak or strong. */
export function isKnown(ifNoneMatch: string, etag: string): boolean {
  return (
    ifNoneMatch.trim() === '*' ||
    ifNoneMatch.split(',').some((known) => known.trim().replace(/^W\//, '') === etag)
  )
}
