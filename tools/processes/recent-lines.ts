import { recentLineCharsMax, recentLinesMax } from './limits.ts'

/** The last lines of a process's output: enough to explain its end, never more. */
export class RecentLines {
  readonly #lines: string[] = []

  add(line: string): void {
    this.#lines.push(line.slice(0, recentLineCharsMax))
    if (this.#lines.length > recentLinesMax) this.#lines.shift()
  }

  toString(): string {
    return this.#lines.map((line) => `  ${line}`).join('\n')
  }
}
