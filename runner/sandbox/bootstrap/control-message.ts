import type { LogLevel } from '@valley/contract/runs.ts'

export interface ThrownError {
  readonly name: string
  readonly message: string
  readonly stack?: string
}

/** What the runner tells a worker, a line of JSON each. */
export type ToWorker =
  | {
      readonly kind: 'assign'
      /** Tried in order: the first is how most vals are written, the next is for what only it can express. */
      readonly modules: readonly string[]
      readonly environment: Readonly<Record<string, string>>
      /** More than this nobody keeps of a run, so it need not be sent either. */
      readonly logLinesMax: number
      readonly logCharsMax: number
    }
  /** Answered in its turn: whatever was printed before the pong belongs to what happened before the ping. */
  | { readonly kind: 'ping'; readonly number: number }

/** What a worker tells the runner, a line of JSON each. The val may forge them: they are about itself only. */
export type FromWorker =
  | { readonly kind: 'ready' }
  | { readonly kind: 'loaded'; readonly handles: 'fetch' | 'nothing' }
  | { readonly kind: 'load_failed'; readonly error: ThrownError }
  | {
      readonly kind: 'log'
      /** null: printed outside of any request, or where it could not be told which. */
      readonly runId: string | null
      readonly level: LogLevel
      readonly message: string
    }
  | { readonly kind: 'threw'; readonly runId: string; readonly error: ThrownError }
  | { readonly kind: 'pong'; readonly number: number }
