import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'

const timeoutMs = 10_000
const pauseMs = 20

/** Waits, within a bound, for something that is about to become true. */
export async function waitUntil(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  await waitFor(what, async () => (await isTrue()) || null)
}

/** Asks again and again, within a bound, until there is an answer other than null. */
export async function waitFor<Found>(what: string, find: () => Promise<Found | null>): Promise<Found> {
  const deadline = Date.now() + timeoutMs
  while (true) {
    const found = await find()
    if (found !== null) return found
    assert.ok(Date.now() < deadline, `waited ${timeoutMs} ms in vain: ${what}`)
    await pause(pauseMs)
  }
}
