import type { Bus } from '@valley/bus/connect-bus.ts'
import type { TailEvent } from '@valley/bus/run-report.ts'
import { limits } from '../limits.ts'

/** Tells whoever watches what happens, val by val, a few milliseconds' worth at once. Lost while NATS is away. */
export class Tail implements Disposable {
  readonly #bus: Bus
  readonly #events = new Map<string, TailEvent[]>()
  #timer: NodeJS.Timeout | null = null

  constructor(bus: Bus) {
    this.#bus = bus
  }

  add(valId: string, event: TailEvent): void {
    const events = this.#events.get(valId)
    if (events) events.push(event)
    else this.#events.set(valId, [event])
    const isFull = events !== undefined && events.length >= limits.tailEventsPerMessageMax
    // A line may have 16 Ki characters: with one of them the message goes out.
    const isLong = event.kind === 'log' && event.message.length > limits.tailLongLineChars
    if (isFull || isLong) this.#tell(valId, events ?? [event])
    this.#timer ??= setTimeout(() => this.flush(), limits.tailTickMs)
  }

  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    for (const [valId, events] of this.#events) this.#tell(valId, events)
  }

  [Symbol.dispose](): void {
    this.flush()
  }

  #tell(valId: string, events: TailEvent[]): void {
    this.#events.delete(valId)
    this.#bus.tell('TAIL', { valId, events })
  }
}
