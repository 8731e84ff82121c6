import type { Answer } from './send.ts'

interface Row {
  requests: number
  slowestMs: number
  readonly statuses: Map<number, number>
}

interface Created {
  readonly id: string
  readonly token?: string
  readonly comment?: string
  readonly version?: number
}

const offencesKept = 20

/** Counts the answers by family and status, and keeps what should not have been. */
export class Tally {
  readonly #rows = new Map<string, Row>()
  readonly #created = { val: new Set<string>(), comment: new Set<string>(), token: new Set<string>() }
  #slowestWallMs = 0
  readonly offences: string[] = []

  add(family: string, answer: Answer): void {
    const row = this.#rows.get(family) ?? { requests: 0, slowestMs: 0, statuses: new Map() }
    this.#rows.set(family, row)
    row.requests += 1
    row.slowestMs = Math.max(row.slowestMs, answer.durationMs)
    row.statuses.set(answer.status, (row.statuses.get(answer.status) ?? 0) + 1)
    this.#slowestWallMs = Math.max(this.#slowestWallMs, answer.wallMs)
    if (answer.status === 201) this.#noteCreated(JSON.parse(answer.text) as Created)
  }

  blame(offence: string): void {
    if (this.offences.length < offencesKept) this.offences.push(offence)
  }

  /** How many of something were created, as the answers said. */
  created(what: 'val' | 'comment' | 'token'): number {
    return this.#created[what].size
  }

  get requests(): number {
    return this.#sum(({ requests }) => requests)
  }

  get slowestMs(): number {
    return Math.max(...[...this.#rows.values()].map(({ slowestMs }) => slowestMs))
  }

  get slowestWallMs(): number {
    return this.#slowestWallMs
  }

  withStatus(fits: (status: number) => boolean): number {
    return this.#sum(({ statuses }) =>
      [...statuses].filter(([status]) => fits(status)).reduce((sum, [, count]) => sum + count, 0),
    )
  }

  print(): void {
    const table = [...this.#rows].map(([family, { requests, slowestMs, statuses }]) => ({
      family,
      requests,
      'slowest ms': Math.round(slowestMs),
      ...Object.fromEntries(
        [...statuses].toSorted(([a], [b]) => a - b).map(([status, count]) => [`s${status}`, count]),
      ),
    }))
    const total = new Map<number, number>()
    for (const { statuses } of this.#rows.values()) {
      for (const [status, count] of statuses) total.set(status, (total.get(status) ?? 0) + count)
    }
    const columns = [...total.keys()].toSorted((a, b) => a - b).map((status) => `s${status}`)
    console.table(table, ['family', 'requests', 'slowest ms', ...columns])
    console.log(`by status: ${JSON.stringify(Object.fromEntries(total))} (0: closed without an answer)`)
  }

  /** By id, because an Idempotency-Key gives the same answer again. A val's later versions are none of these. */
  #noteCreated({ id, token, comment, version }: Created): void {
    if (token !== undefined) this.#created.token.add(id)
    else if (comment !== undefined) this.#created.comment.add(id)
    else if (version === 1) this.#created.val.add(id)
  }

  #sum(count: (row: Row) => number): number {
    return [...this.#rows.values()].reduce((sum, row) => sum + count(row), 0)
  }
}
