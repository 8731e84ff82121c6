import { LRUCache } from 'lru-cache'
import type { Bus } from '@valley/bus/connect-bus.ts'
import type { Head } from '@valley/bus/requests.ts'
import { limits } from '../limits.ts'
import { stampHead } from './head-stamp.ts'

export type HeadFound =
  | { readonly kind: 'found'; readonly head: Head }
  | { readonly kind: 'missing' }
  /** Never heard of, and nobody there to ask. */
  | { readonly kind: 'unavailable' }

interface Entry {
  /** null: there is no such val. */
  head: Head | null
  askedAtMs: number
  /** How many changes had been heard of when it was asked for, and how many by now: the head is of the former. */
  changesKnown: number
  changesHeard: number
  failedAtMs: number
  asking: Promise<void> | null
}

/**
 * What this runner knows of vals, by the label of their address. A head may be used for ten seconds, is asked for
 * again before that while it is in use, and at once after a hint that it changed. While nobody answers, what is
 * known goes on being used: an old answer is better than none.
 */
export class HeadCache {
  readonly #bus: Bus
  readonly #entries = new LRUCache<string, Entry>({
    max: limits.headsCachedMax,
    maxSize: limits.headsCachedBytesMax,
    sizeCalculation: ({ head }) => 500 + (head ? sizeOf(head) : 0),
  })

  readonly #asking = new Map<string, Promise<HeadFound>>()
  #changes = 0

  constructor(bus: Bus) {
    this.#bus = bus
    bus.subscribe('valChanged', ({ valId }) => this.#outdate((head) => head?.valId === valId))
    bus.subscribe('environmentChanged', ({ userId }) => this.#outdate((head) => head?.ownerId === userId))
    bus.subscribe('callerChanged', ({ userId }) => this.#outdate((head) => head?.ownerId === userId))
  }

  get size(): number {
    return this.#entries.size
  }

  /** At once where it is known and fresh, so that a warm request waits for nothing. */
  find(label: string): HeadFound | Promise<HeadFound> {
    const entry = this.#entries.get(label)
    if (entry === undefined) return this.#findFirstOnce(label)
    const nowMs = performance.now()
    const ageMs = nowMs - entry.askedAtMs
    const isFresh = !isOutdated(entry) && ageMs < limits.headAgeMaxMs
    if (isFresh && ageMs > limits.headRefreshAgeMs) void this.#ask(label, entry)
    if (isFresh) return toFound(entry)
    if (nowMs - entry.failedAtMs < limits.headRetryWaitMs) return toFound(entry)
    return this.#askUntilFresh(label, entry)
  }

  /** An answer that was on its way when the val changed again may be the old one: then once more. */
  async #askUntilFresh(label: string, entry: Entry): Promise<HeadFound> {
    const startedAtMs = performance.now()
    await this.#ask(label, entry)
    if (isOutdated(entry) && entry.failedAtMs < startedAtMs) await this.#ask(label, entry)
    return toFound(entry)
  }

  /** However many ask for it first. */
  #findFirstOnce(label: string): Promise<HeadFound> {
    const asking = this.#asking.get(label) ?? this.#findFirst(label).finally(() => this.#asking.delete(label))
    this.#asking.set(label, asking)
    return asking
  }

  async #findFirst(label: string): Promise<HeadFound> {
    const changesBefore = this.#changes
    const startedAtMs = performance.now()
    // Nothing is known to go on with, so a bus that is just coming up is waited for.
    const reply = await this.#bus.request(
      'resolveVal',
      { label },
      { timeoutMs: limits.headTimeoutMs, patient: true },
    )
    if (reply === null || reply.kind === 'unavailable') return { kind: 'unavailable' }
    const head = reply.kind === 'found' ? reply.head : null
    if (head !== null) stampHead(head, startedAtMs)
    const entry = {
      head,
      askedAtMs: performance.now(),
      // Whatever changed meanwhile may have been this val: until it is known, nobody can tell.
      changesKnown: changesBefore,
      changesHeard: this.#changes,
      failedAtMs: -Infinity,
      asking: null,
    }
    this.#entries.set(label, entry)
    return toFound(entry)
  }

  /** One question at a time for each label, however many wait for the answer. */
  async #ask(label: string, entry: Entry): Promise<void> {
    entry.asking ??= this.#renew(label, entry).finally(() => (entry.asking = null))
    await entry.asking
  }

  async #renew(label: string, entry: Entry): Promise<void> {
    const askedAtMs = performance.now()
    // Until the answer is there, it stays out of date for everybody else.
    const { changesHeard } = entry
    const reply = await this.#bus.request('resolveVal', { label }, { timeoutMs: limits.headTimeoutMs })
    if (reply === null || reply.kind === 'unavailable') {
      entry.changesKnown = -1
      entry.failedAtMs = performance.now()
      return
    }
    entry.head = reply.kind === 'found' ? reply.head : null
    if (entry.head !== null) stampHead(entry.head, askedAtMs)
    entry.askedAtMs = askedAtMs
    entry.changesKnown = changesHeard
    // Set anew, because it may have grown.
    this.#entries.set(label, entry)
  }

  /** What was missing may be there now: a new val has no label yet that we could know. */
  #outdate(isMeant: (head: Head | null) => boolean): void {
    this.#changes += 1
    for (const entry of this.#entries.values()) {
      if (entry.head === null || isMeant(entry.head)) entry.changesHeard = this.#changes
    }
  }
}

function isOutdated({ changesKnown, changesHeard }: Entry): boolean {
  return changesKnown < changesHeard
}

/** About what it takes in memory: the code, and every variable. */
function sizeOf({ code, environment }: Head): number {
  const variables = Object.entries(environment).reduce(
    (sum, [name, value]) => sum + name.length + value.length,
    0,
  )
  return (code.length + variables) * 2
}

function toFound({ head }: Entry): HeadFound {
  return head === null ? { kind: 'missing' } : { kind: 'found', head }
}
