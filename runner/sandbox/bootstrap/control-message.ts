import type { LogLevel } from '@valley/contract/runs.ts'

export interface ThrownError {
  readonly name: string
  readonly message: string
  readonly stack?: string
}

/** What a run calls: the default export as a function, or what it has for schedules. */
export type Entry = 'call' | 'scheduled'

/** What a val's default export can be used for. */
export interface Handles {
  readonly fetch: boolean
  readonly call: boolean
  readonly scheduled: boolean
}

/** One run by hand or on a schedule. */
export interface Call {
  readonly runId: string
  readonly entry: Entry
  readonly args: readonly unknown[]
}

/** What the runner tells a worker, a line of JSON each. */
export type ToWorker =
  | {
      readonly kind: 'assign'
      /** Tried in order: the first is how most vals are written, the next is for what only it can express. */
      readonly modules: readonly string[]
      readonly environment: Readonly<Record<string, string>>
      /** warm: the val is loaded once and called again. fresh: each run loads it in an isolate of its own. */
      readonly mode: 'warm' | 'fresh'
      /** More than this nobody keeps of a run, so it need not be sent either. */
      readonly logLinesMax: number
      readonly logCharsMax: number
      readonly returnValueCharsMax: number
    }
  | ({ readonly kind: 'call' } & Call)
  /** Ends a run in an isolate of its own, whatever it does. */
  | { readonly kind: 'stop'; readonly runId: string }
  /** Answered in its turn: whatever was printed before the pong belongs to what happened before the ping. */
  | { readonly kind: 'ping'; readonly number: number }

export interface Returned {
  readonly runId: string
  /** JSON, or its beginning, or a description where JSON cannot hold it. */
  readonly text: string
  readonly isCut: boolean
  /** Whether the val has a default export to be called: then it need not be loaded anew for each run. */
  readonly hasDefault: boolean
}

/** What a worker tells the runner, a line of JSON each. The val may forge them: they are about itself only. */
export type FromWorker =
  | { readonly kind: 'ready' }
  | { readonly kind: 'loaded'; readonly handles: Handles }
  | { readonly kind: 'load_failed'; readonly error: ThrownError }
  | {
      readonly kind: 'log'
      /** null: printed outside of any request, or where it could not be told which. */
      readonly runId: string | null
      readonly level: LogLevel
      readonly message: string
    }
  | {
      readonly kind: 'threw'
      readonly runId: string
      readonly error: ThrownError
      /** As of what is returned; left out where the val was not loaded. */
      readonly hasDefault?: boolean
    }
  | ({ readonly kind: 'returned' } & Returned)
  | { readonly kind: 'pong'; readonly number: number }
