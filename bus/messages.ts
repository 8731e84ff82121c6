import { z } from 'zod'
import { Id } from '@valley/contract/scalars.ts'

export interface Message {
  readonly subject: string
  /** Whoever made the change may ask about it at once: its answer waits until NATS has passed the hint on. */
  readonly isAwaited?: true
  readonly shape: z.ZodObject
}

/**
 * Every message between processes. Each is a hint: it may be lost or doubled without harm, because whoever missed
 * it finds out by itself when its copy has grown too old.
 */
export const messages = {
  /** A val was saved, changed or deleted: what is cached of it is out of date. */
  valChanged: { subject: 'vals.changed', isAwaited: true, shape: z.object({ valId: Id }) },
  /** A user's own variables changed: what is cached of any of their vals is out of date. */
  environmentChanged: { subject: 'environments.changed', isAwaited: true, shape: z.object({ userId: Id }) },
  /** A user's tokens or name changed: cached callers of that user are out of date. */
  callerChanged: { subject: 'callers.changed', isAwaited: true, shape: z.object({ userId: Id }) },
  /** Runs were put into the queue: whoever has room may claim some. */
  runsWaiting: { subject: 'runs.waiting', shape: z.object({ senderId: Id }) },
  /** A run that is under way shall end. */
  runCanceled: { subject: 'runs.canceled', shape: z.object({ runId: Id }) },
  /** Queued runs are over and recorded: whoever waits for one may look. */
  runsEnded: { subject: 'runs.ended', shape: z.object({ senderId: Id, runIds: z.array(Id) }) },
} as const satisfies Record<string, Message>

export type MessageName = keyof typeof messages
export type MessageBody<Name extends MessageName> = z.infer<(typeof messages)[Name]['shape']>

/** The subject of one message: the last part is the id it is about, so that a reader may take only some. */
export function subjectOf<Name extends MessageName>(name: Name, body: MessageBody<Name>): string {
  return `${messages[name].subject}.${String(Object.values(body)[0])}`
}
