import type { Readable } from 'node:stream'

const recentBytesMax = 4096

/** Reads the streams to their end, however much they bring, and keeps the last of it. */
export class RecentOutput {
  #kept = Buffer.alloc(0)
  #heapWasFull = false

  follow(stream: Readable): void {
    stream.on('data', (chunk: Buffer) => {
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
