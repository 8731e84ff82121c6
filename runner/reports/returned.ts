import { isDeeperThan } from '@valley/contract/json-depth.ts'
import { limits } from '@valley/contract/limits.ts'
import type { Returned as Told } from '../sandbox/bootstrap/control-message.ts'
import { storable } from './storable.ts'

export type Returned = Pick<Told, 'text' | 'isCut'>

interface KeptValue {
  readonly value: unknown
  readonly isCut: boolean
}

/**
 * What is kept of what a run returned. The worker says that it is JSON; what is not, or is nested so deeply that writing
 * it down again would exhaust a stack, is kept as the text that it is.
 */
export function keepReturned({ text, isCut }: Returned): KeptValue {
  const whole = isCut || text.length > limits.returnValueCharsMax ? undefined : parseJson(text)
  const isKept = whole !== undefined && !isDeeperThan(whole, limits.jsonLevelsMax)
  if (isKept) return { value: whole, isCut: false }
  return { value: storable(text, limits.returnValueCharsMax), isCut: true }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
