import { setTimeout as pause } from 'node:timers/promises'

const pauseMs = 50
const samples = 10
const timeoutMs = 15_000

/** Waits until a number no longer changes: what was on its way has arrived, and nothing follows. */
export async function untilSteady(read: () => number | Promise<number>): Promise<number> {
  const deadline = Date.now() + timeoutMs
  let last = await read()
  for (let same = 0; same < samples; same++) {
    await pause(pauseMs)
    const now = await read()
    if (now !== last) same = 0
    last = now
    if (Date.now() > deadline) throw new Error(`It went on for ${timeoutMs} ms, up to ${last}.`)
  }
  return last
}
