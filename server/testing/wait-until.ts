import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'

const timeoutMs = 10_000
const pauseMs = 20

/** Waits, within a bound, for something that is about to become true. */
export async function waitUntil(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + timeoutMs
  while (!(await isTrue())) {
    assert.ok(Date.now() < deadline, `waited ${timeoutMs} ms in vain until ${what}`)
    await pause(pauseMs)
  }
}
