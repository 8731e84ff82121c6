import { setTimeout as sleep } from 'node:timers/promises'
import { v7 } from 'uuid'
import type { Bus } from '@valley/bus/connect-bus.ts'
import type { RunReport } from '@valley/bus/run-report.ts'
import { limits } from '../limits.ts'

interface Batch {
  readonly id: string
  readonly reports: RunReport[]
  bytes: number
}

export interface ReporterObservations {
  readonly reportsLost: (count: number) => void
}

/**
 * Brings reports of runs to the stream, many at once, and keeps them until the stream has them. While NATS is away
 * they wait here, up to a bound in bytes; beyond it the oldest are lost, and that is told.
 */
export class Reporter implements AsyncDisposable {
  readonly #bus: Bus
  readonly #observe: ReporterObservations
  readonly #waiting: Batch[] = []
  #filling: Batch = emptyBatch()
  #waitingBytes = 0
  #underWay = 0
  #timer: NodeJS.Timeout | null = null
  #closesAtMs = 0
  readonly #stop = new AbortController()

  constructor(bus: Bus, observe: ReporterObservations) {
    this.#bus = bus
    this.#observe = observe
  }

  /** Reports that the stream does not have yet. */
  get waitingCount(): number {
    return this.#waiting.reduce((sum, { reports }) => sum + reports.length, this.#filling.reports.length)
  }

  add(report: RunReport): void {
    const bytes = guessBytes(report)
    if (this.#filling.bytes + bytes > limits.batchBytesMax) this.#closeBatch()
    this.#filling.reports.push(report)
    this.#filling.bytes += bytes
    this.#waitingBytes += bytes
    if (this.#filling.reports.length >= limits.batchReportsMax) this.#closeBatch()
    this.#closeWithin(report.source === 'http' ? limits.batchMs : limits.queuedBatchMs)
  }

  /** Sends what it has, for a while. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closeBatch()
    const deadline = AbortSignal.timeout(limits.stopMsMax)
    while (this.#underWay + this.waitingCount > 0 && !deadline.aborted) {
      if (this.#filling.reports.length > 0) this.#closeBatch()
      await sleep(limits.tailTickMs)
    }
    this.#stop.abort()
    if (this.waitingCount > 0) this.#observe.reportsLost(this.waitingCount)
  }

  #closeWithin(ms: number): void {
    const atMs = performance.now() + ms
    if (this.#timer !== null && this.#closesAtMs <= atMs) return
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#closesAtMs = atMs
    this.#timer = setTimeout(() => this.#closeBatch(), ms)
  }

  #closeBatch(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    if (this.#filling.reports.length > 0) this.#waiting.push(this.#filling)
    this.#filling = emptyBatch()
    this.#shedOldest()
    this.#sendWaiting()
  }

  #shedOldest(): void {
    while (this.#waitingBytes > limits.reportsWaitingBytesMax) {
      const oldest = this.#waiting.shift()
      if (oldest === undefined) return
      this.#waitingBytes -= oldest.bytes
      this.#observe.reportsLost(oldest.reports.length)
    }
  }

  #sendWaiting(): void {
    while (this.#underWay < limits.batchesUnderWayMax) {
      const batch = this.#waiting.shift()
      if (batch === undefined) return
      this.#underWay += 1
      void this.#send(batch).finally(() => {
        this.#underWay -= 1
        if (!this.#stop.signal.aborted) this.#sendWaiting()
      })
    }
  }

  /** The batch's id makes a repetition harmless: the stream drops it, or the recorder knows its runs. */
  async #send(batch: Batch): Promise<void> {
    const body = { batchId: batch.id, reports: batch.reports }
    if ((await this.#bus.publishToStream('RUNS', body, { messageId: batch.id })) === 'stored') {
      this.#waitingBytes -= batch.bytes
      return
    }
    this.#waiting.unshift(...this.#fitted(batch))
    await sleep(limits.batchRetryWaitMs, undefined, { signal: this.#stop.signal }).catch(() => undefined)
  }

  /** What NATS will never take as it is goes in halves; one that is too large by itself goes without what it printed. */
  #fitted(batch: Batch): readonly Batch[] {
    const { reports } = batch
    if (Buffer.byteLength(JSON.stringify(reports)) + 100 < this.#bus.payloadBytesMax) return [batch]
    const half = Math.ceil(reports.length / 2)
    const parts =
      reports.length > 1 ? [reports.slice(0, half), reports.slice(half)] : [reports.map(withoutLogs)]
    this.#waitingBytes -= batch.bytes
    return parts.map((part) => {
      const bytes = part.reduce((sum, report) => sum + guessBytes(report), 0)
      this.#waitingBytes += bytes
      return { id: v7(), reports: part, bytes }
    })
  }
}

function withoutLogs(report: RunReport): RunReport {
  const at = new Date(report.endedAtMs).toISOString()
  return { ...report, logs: [{ at, level: 'warn', message: 'What it printed was too much to be kept.' }] }
}

function emptyBatch(): Batch {
  return { id: v7(), reports: [], bytes: 0 }
}

/** About what it takes as JSON; counting exactly would mean writing it twice. */
function guessBytes({ logs, error, returnValue }: RunReport): number {
  const logBytes = logs.reduce((sum, { message }) => sum + 80 + message.length * 2, 0)
  const returnedBytes = returnValue === undefined ? 0 : JSON.stringify(returnValue).length
  return (
    600 + returnedBytes + logBytes + (error ? (error.message.length + (error.stack?.length ?? 0)) * 2 : 0)
  )
}
