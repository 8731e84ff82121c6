import type { AnswerOf, BodyOf, EventOf, Operation, RequestOf } from '@valley/contract/operation.ts'
import type { operations, OperationName } from '@valley/contract/operations.ts'
import type { Caller } from './caller.ts'
import type { Context } from './context.ts'
import type { IfMatch } from './etag.ts'
import type { EventStream } from './event-stream.ts'

type Declared<Name extends OperationName> = (typeof operations)[Name]

/** A parsed request: the declared parts, and what the headers ask for. */
export type Request<Name extends OperationName> = RequestOf<Declared<Name>> & {
  /** The path and query as they were sent, for the links of a list. */
  readonly target: string
  readonly ifMatch: IfMatch | null
  /** The event after which the caller wants to go on. */
  readonly lastEventId: string | null
}

export interface AwaitedRun {
  readonly runId: string
  readonly waitMs: number
}

/** An answer with a status other than the only declared one, or with a Location. */
export class Reply<const Status, Body> {
  readonly status: Status
  readonly body: Body
  readonly location: string | undefined

  /** Once all is committed, its end is waited for, to be answered in place of this. */
  awaited: AwaitedRun | undefined

  constructor(status: Status, body: Body, location?: string) {
    this.status = status
    this.body = body
    this.location = location
  }

  awaiting(run: AwaitedRun): this {
    this.awaited = run
    return this
  }
}

type ReplyOf<Answer> = Answer extends { status: infer Status; body: infer Body } ? Reply<Status, Body> : never

type Answer<Name extends OperationName> =
  Declared<Name> extends { events: NonNullable<Operation['events']> }
    ? EventStream<EventOf<Declared<Name>>>
    : ReplyOf<AnswerOf<Declared<Name>>> | BodyOf<Declared<Name>>

type CallerOf<Name extends OperationName> = {
  none: null
  optional: Caller | null
  required: Caller
}[Declared<Name>['auth']]

/** A handler is a plain function: context, caller, request; it returns a value or throws a Fault. */
export type Handler<Name extends OperationName> = (
  context: Context,
  caller: CallerOf<Name>,
  request: Request<Name>,
) => Promise<Answer<Name>>

export type Handlers = { readonly [Name in OperationName]: Handler<Name> }
