import type { Head } from '@valley/bus/requests.ts'

const askedAtMs = new WeakMap<Head, number>()

/** When it was asked for: of two heads of a val, the one that was asked for later is at least as new. */
export function stampHead(head: Head, atMs: number): void {
  askedAtMs.set(head, atMs)
}

export function isOlderHead(head: Head, than: Head): boolean {
  return (askedAtMs.get(head) ?? 0) < (askedAtMs.get(than) ?? 0)
}
