import { ErrorBody } from '@valley/contract/errors.ts'
import type { OperationName } from '@valley/contract/operations.ts'
import type { Answer } from './send.ts'
import { operationOf } from './target.ts'

export const answerMsMax = 1_000
const errorCharsMax = 64 * 1024

/** What is wrong with an answer, in a few words; null when it is as it should be. */
export function findOffence(operation: OperationName | null, answer: Answer): string | null {
  const { status, durationMs, text } = answer
  if (status >= 500) return 'a fault of the server'
  if (durationMs > answerMsMax) return 'slow'
  if (status >= 400 && text.length > errorCharsMax) return 'a long error'
  if (status >= 400 && /node_modules|\/server\/|node:internal/.test(text))
    return 'an error that tells too much'
  return answer.isJson ? findMisfit(operation, answer) : null
}

function findMisfit(operation: OperationName | null, { status, text }: Answer): string | null {
  const declared = operation === null ? undefined : operationOf(operation).response[status as 200]
  const schema = status >= 400 ? ErrorBody : declared
  if (!schema) return null
  const parsed = schema.safeParse(JSON.parse(text))
  return parsed.success ? null : `an answer unlike its schema: ${parsed.error.issues[0]?.message}`
}
