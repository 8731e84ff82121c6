import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs'
import { logFileBytesMax } from './limits.ts'

/**
 * A log file of bounded size. Written synchronously: lines stay in order, nothing is buffered that a
 * crash could lose, and a write to the page cache costs microseconds.
 */
export class LogFile implements Disposable {
  readonly path: string
  readonly #bytesMax: number
  #file: number
  #bytes: number

  constructor(path: string, bytesMax = logFileBytesMax) {
    this.path = path
    this.#bytesMax = bytesMax
    this.#file = openSync(path, 'a', 0o600)
    this.#bytes = fstatSync(this.#file).size
  }

  write(line: string): void {
    if (this.#bytes >= this.#bytesMax) this.#rotate()
    this.#bytes += writeSync(this.#file, `${line}\n`)
  }

  #rotate(): void {
    closeSync(this.#file)
    renameSync(this.path, `${this.path}.1`)
    this.#file = openSync(this.path, 'a', 0o600)
    this.#bytes = 0
  }

  [Symbol.dispose](): void {
    closeSync(this.#file)
  }
}
