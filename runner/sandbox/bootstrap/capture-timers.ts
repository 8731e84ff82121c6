import { type Print, printThrown } from './capture-uncaught.ts'

type Timer = (call: unknown, ms?: number, ...values: unknown[]) => number

/** By the time Deno reports what a timer threw, it has forgotten which run set it: so it is caught right there. */
export function captureTimers(print: Print): void {
  const own = globalThis as unknown as Record<'setTimeout' | 'setInterval', Timer>
  for (const name of ['setTimeout', 'setInterval'] as const) {
    const native = own[name]
    own[name] = (call, ms, ...values) =>
      native(typeof call === 'function' ? guard(call) : call, ms, ...values)
  }

  function guard(call: Function) {
    return (...values: unknown[]) => {
      try {
        call(...values)
      } catch (thrown) {
        printThrown(print, 'Uncaught ', thrown)
      }
    }
  }
}
