import type { Readable } from 'node:stream'
import { Allowance } from './allowance.ts'

const recentBytesMax = 4096
/** A val has the console for its lines; what comes here is of crashes. */
const bytesPerSecondMax = 1024 * 1024

/** Reads the streams to their end, however much they bring, and keeps the last of it. */
export class RecentOutput {
  #kept = Buffer.alloc(0)
  #heapWasFull = false

  follow(stream: Readable): void {
    const allowance = new Allowance(stream, bytesPerSecondMax)
    stream.on('data', (chunk: Buffer) => {
      allowance.spend(chunk.length)
      const both = Buffer.concat([this.#kept, chunk.subarray(-recentBytesMax)])
      this.#heapWasFull ||= /Fatal JavaScript (invalid size error|out of memory)/.test(
        both.toString('latin1'),
      )
      this.#kept = both.subarray(-recentBytesMax)
    })
    // A pipe that breaks is one that ended: 'close' follows.
    stream.on('error', () => {})
  }

  read(): string {
    return this.#kept.toString('utf8')
  }

  /** V8 aborts the process at its own heap limit, before the kernel would, and says so nowhere but here. */
  tellsOfFullHeap(): boolean {
    return this.#heapWasFull
  }
}
