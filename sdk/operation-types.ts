import type { AnswerOf, BodyOf, EventOf, InputOf, Operation, RequestOf } from '@valley/contract/operation.ts'
import type { operations } from '@valley/contract/operations.ts'
import type { platform } from '@valley/contract/platform.ts'
import type { Val } from '@valley/contract/vals.ts'

type Contract = typeof operations

/** The operations of the API; those that operators ask the service itself are left out. */
export type ApiOperation = Exclude<keyof Contract, keyof typeof platform>

export type MethodFor<N extends ApiOperation> = Contract[N]['method']
export type PathFor<N extends ApiOperation> = Contract[N]['path']

/** text: the answer is the thing itself, such as a module's code. events: it goes on. */
export type AnswerKindFor<N extends ApiOperation> = N extends EventsOperation
  ? 'events'
  : Contract[N] extends { media: string }
    ? 'text'
    : 'json'

/** The operations whose answer goes on, event by event. */
export type EventsOperation = {
  [N in ApiOperation]: Contract[N] extends { events: NonNullable<Operation['events']> } ? N : never
}[ApiOperation]

/** The operations whose answer comes as a whole. */
export type WholeOperation = Exclude<ApiOperation, EventsOperation>

export type EventFor<N extends EventsOperation> = EventOf<Contract[N]>

/** What a successful answer holds; void for one without a body. */
export type ResultFor<N extends ApiOperation> = BodyOf<Contract[N]>

/** What is sent as the body. */
export type BodyFor<N extends ApiOperation> = Part<InputOf<Contract[N]>, 'body'>

/** What can be asked in the query, as what it means: a Date, a boolean, an array. */
export type QueryFor<N extends ApiOperation> = Meaning<
  Part<InputOf<Contract[N]>, 'query'>,
  Part<RequestOf<Contract[N]>, 'query'>
>

export type InputFor<N extends ApiOperation> = Omit<InputOf<Contract[N]>, 'query'> &
  ('query' extends keyof InputOf<Contract[N]> ? OptionalIfEmptyFits<QueryFor<N>> : unknown)

/** An answer with its status, so that 200 can be told from 201 and, where it is possible, from 304. */
export type AnswerFor<N extends ApiOperation> = (AnswerOf<Contract[N]> | NotModifiedFor<N>) & {
  readonly headers: Headers
}

export interface CallOptions {
  /** Ends the call, with all its attempts and waits: the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** How long each attempt may take. */
  readonly timeoutMs?: number | undefined
}

export interface IfMatchOption {
  /** Only if this is still current, else `precondition_failed`: a val as it was answered to you, or its ETag. */
  readonly ifMatch?: Val | string | undefined
}

export interface IdempotencyKeyOption {
  /** Makes repeated calls one, also across restarts of your program. Left out, each call gets its own key. */
  readonly idempotencyKey?: string | undefined
}

export interface IfNoneMatchOption {
  /** Answer 304 without a body if this is still current: a val as it was answered to you, or its ETag. */
  readonly ifNoneMatch?: Val | string | undefined
}

/** The options that the methods of an operation take. */
export type OptionsFor<N extends ApiOperation> = CallOptions &
  (Contract[N] extends { ifMatch: true } ? IfMatchOption : unknown) &
  (Contract[N] extends { method: 'POST' } ? IdempotencyKeyOption : unknown)

/** The options of `client.request`, which can also tell that nothing has changed. */
export type RequestOptionsFor<N extends ApiOperation> = OptionsFor<N> &
  (Contract[N] extends Cacheable ? IfNoneMatchOption : unknown)

/** The operations that answer in pages. */
export type ListOperation = {
  [N in ApiOperation]: ResultFor<N> extends { data: readonly unknown[]; links: unknown } ? N : never
}[ApiOperation]

export type ItemFor<N extends ListOperation> =
  ResultFor<N> extends { data: readonly (infer Item)[] } ? Item : never

type Cacheable = { readonly method: 'GET'; readonly etag: true }

type NotModifiedFor<N extends ApiOperation> = Contract[N] extends Cacheable
  ? { readonly status: 304; readonly body: void }
  : never

type Part<Whole, P extends string> = P extends keyof Whole ? Whole[P] : never

/** The optional fields are those of the input, before defaults are filled in. */
type Meaning<Input, Output> = {
  readonly [K in keyof Input]: K extends keyof Output ? Meant<Output[K]> : never
}

type Meant<Value> = Value extends Date
  ? Date | string
  : Value extends readonly (infer Item)[]
    ? readonly Item[]
    : Value

type OptionalIfEmptyFits<Query> =
  Partial<Query> extends Query ? { readonly query?: Query | undefined } : { readonly query: Query }
