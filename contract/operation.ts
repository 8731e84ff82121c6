import type { z } from 'zod'
import type { ErrorCode } from './errors.ts'
import type { Scope } from './scopes.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'
export type SuccessStatus = 200 | 201 | 202 | 204

/** One operation as data. Handlers, SDK, OpenAPI and the authorization tests all derive from it. */
export interface Operation {
  readonly method: Method
  readonly path: `/${string}`
  readonly tag: string
  readonly summary: string
  readonly description?: string
  /** none: a token is not even looked at. optional: without one, what everyone may see. */
  readonly auth: 'none' | 'optional' | 'required'
  readonly scope: Scope | null
  readonly params?: z.ZodObject
  readonly query?: z.ZodObject
  readonly body?: z.ZodObject
  /** Sending no body at all means sending `{}`. */
  readonly bodyMayBeMissing?: true
  /** The body may also be the code itself, with a content type of JavaScript, TypeScript or plain text. */
  readonly takesRawCode?: true
  /** The answer by status; null for an answer without a body. */
  readonly response: Partial<Readonly<Record<SuccessStatus, z.ZodType | null>>>
  /** The answer's media type where it is not application/json. */
  readonly media?: string
  /**
   * The answer goes on, as server-sent events: the shape of each one's data by its name. Its media type is
   * text/event-stream, and Last-Event-ID, as a header or `lastEventId` in the query, goes on after an event.
   */
  readonly events?: Readonly<Record<string, z.ZodType>>
  /** The answer carries an ETag and If-None-Match is honoured. */
  readonly etag?: true
  /** If-Match is honoured. */
  readonly ifMatch?: true
  /** The codes of this operation's own; those that follow from auth, scope and body are derived. */
  readonly errors?: readonly ErrorCode[]
  readonly exampleBody?: object
}

export type Operations = Readonly<Record<string, Operation>>

type Part = 'params' | 'query' | 'body'

/** What a caller passes in. */
export type InputOf<O extends Operation> = {
  readonly [P in Part as O[P] extends z.ZodType ? P : never]: O[P] extends z.ZodType ? z.input<O[P]> : never
}

/** What a handler receives once the input has been parsed. */
export type RequestOf<O extends Operation> = {
  readonly [P in Part as O[P] extends z.ZodType ? P : never]: O[P] extends z.ZodType ? z.output<O[P]> : never
}

type BodyAt<O extends Operation, S> = S extends keyof O['response']
  ? O['response'][S] extends z.ZodType
    ? z.output<O['response'][S]>
    : void
  : never

/** The body of any of the operation's successful answers. */
export type BodyOf<O extends Operation> = BodyAt<O, keyof O['response']>

/** One event of an answer that goes on; `id` is what Last-Event-ID takes. */
export type EventOf<O extends Pick<Operation, 'events'>> = {
  readonly [Name in keyof O['events']]: {
    readonly event: Name
    readonly id: string
    readonly data: O['events'][Name] extends z.ZodType ? z.output<O['events'][Name]> : never
  }
}[keyof O['events']]

/** A successful answer together with its status, one member per declared status. */
export type AnswerOf<O extends Operation> = {
  [S in keyof O['response']]: { readonly status: S; readonly body: BodyAt<O, S> }
}[keyof O['response']]
