import type { ThrownError } from './control-message.ts'
import type { DenoApi } from './deno-api.ts'

const exited: ThrownError = {
  name: 'WorkerExited',
  message: 'The val ended its own process, by Deno.exit() or a crash.',
}

/** Longer than it takes whoever made the isolate to end it. */
const endMsMax = 1_000

/**
 * What belongs to the whole process is made this isolate's own: the variables, which others of the same val would see
 * changed, and the end, of which nobody would be told. Node's process goes through these as well.
 */
export function ownProcess(deno: DenoApi, onExit: (error: ThrownError) => void): void {
  Object.defineProperty(deno, 'env', { value: ownVariables(deno.env.toObject()) })
  const native = deno.exit
  const exit = (code: number) => {
    onExit(exited)
    // The code after it must not go on; a thread that waits is ended like any other.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, endMsMax)
    native(code)
  }
  Object.defineProperty(deno, 'exit', { value: exit })
  Object.defineProperty(globalThis, 'close', { value: () => exit(0) })
}

function ownVariables(inherited: Readonly<Record<string, string>>) {
  const variables = new Map(Object.entries(inherited))
  return {
    get: (name: unknown) => variables.get(String(name)),
    has: (name: unknown) => variables.has(String(name)),
    set: (name: unknown, value: unknown) => void variables.set(String(name), String(value)),
    delete: (name: unknown) => void variables.delete(String(name)),
    toObject: () => Object.fromEntries(variables),
  }
}
