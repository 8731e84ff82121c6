import type { Socket } from 'node:net'
import { z } from 'zod'
import { LogLevel } from '@valley/contract/runs.ts'
import { limits } from '../limits.ts'
import { Allowance } from '../sandbox/allowance.ts'
import type { FromWorker, ToWorker } from '../sandbox/bootstrap/control-message.ts'

const text = z.string()
const flag = z.boolean()
const Thrown = z.object({ name: text, message: text, stack: text.optional() })

/** The val can say whatever it likes here: only what has this shape is heard. */
const Message = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ready') }),
  z.object({ kind: z.literal('loaded'), handles: z.object({ fetch: flag, call: flag, scheduled: flag }) }),
  z.object({ kind: z.literal('load_failed'), error: Thrown }),
  z.object({ kind: z.literal('log'), runId: text.nullable(), level: LogLevel, message: text }),
  z.object({ kind: z.literal('threw'), runId: text, error: Thrown, hasDefault: flag.optional() }),
  z.object({ kind: z.literal('returned'), runId: text, text, isCut: flag, hasDefault: flag }),
  z.object({ kind: z.literal('pong'), number: z.number() }),
])

export interface ControlListener {
  readonly onMessage: (message: FromWorker) => void
  readonly onNonsense: () => void
  readonly onClose: () => void
}

/** The runner's end of the line to a worker: lines of JSON, bounded in length and in how many come in a second. */
export class ControlChannel {
  readonly #socket: Socket
  readonly #listener: ControlListener
  readonly #allowance: Allowance
  #rest = ''

  constructor(socket: Socket, listener: ControlListener) {
    this.#socket = socket
    this.#listener = listener
    this.#allowance = new Allowance(socket, limits.controlCostPerSecondMax)
    socket.setEncoding('utf8')
    socket.on('data', (chunk: string) => this.#read(chunk))
    socket.on('error', () => socket.destroy())
    socket.on('close', () => listener.onClose())
  }

  send(message: ToWorker): void {
    if (this.#socket.writable) this.#socket.write(`${JSON.stringify(message)}\n`)
  }

  close(): void {
    this.#socket.destroy()
  }

  #read(chunk: string): void {
    const lines = (this.#rest + chunk).split('\n')
    this.#rest = lines.pop() ?? ''
    this.#allowance.spend(chunk.length + lines.length * limits.controlLineCost)
    for (const line of lines) {
      // Nothing that follows nonsense is heard, also of what came together with it.
      if (this.#socket.destroyed) return
      this.#understand(line)
    }
    if (this.#rest.length > limits.controlLineBytesMax) this.#giveUp()
  }

  #understand(line: string): void {
    const parsed = Message.safeParse(parseJson(line))
    if (parsed.success) this.#listener.onMessage(parsed.data as FromWorker)
    else this.#giveUp()
  }

  #giveUp(): void {
    this.#rest = ''
    this.#socket.destroy()
    this.#listener.onNonsense()
  }
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
