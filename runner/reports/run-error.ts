import type { RunError } from '@valley/contract/runs.ts'
import type { ThrownError } from '../sandbox/bootstrap/control-message.ts'
import { ownLines } from './own-lines.ts'
import { storable } from './storable.ts'

const nameCharsMax = 200
const textCharsMax = 8_192

/** An error as a val threw it, made fit to be kept and shown. */
export function runErrorOf(thrown: ThrownError): RunError {
  const { name, message, stack } = unwrapSyntaxError(thrown)
  return {
    name: storable(name, nameCharsMax),
    message: ownLines(storable(message, textCharsMax)),
    ...(stack === undefined ? {} : { stack: ownLines(storable(stack, textCharsMax)) }),
  }
}

/** Deno says `TypeError: SyntaxError: …` of a module that does not parse, with all of it in the message. */
function unwrapSyntaxError(thrown: ThrownError): ThrownError {
  const { name, message, stack } = thrown
  const said = /^SyntaxError: ([^]*)$/.exec(message)?.[1]
  if (name !== 'TypeError' || said === undefined) return thrown
  return {
    name: 'SyntaxError',
    message: said,
    ...(stack ? { stack: stack.replace(/^TypeError: /, '') } : {}),
  }
}
