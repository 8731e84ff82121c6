import { seal, unseal } from '../seal.ts'
import type { EnvironmentKey, EnvironmentKeys } from './keys.ts'

/** Whose variable it is and what it is called: a value opens nowhere else. */
export interface VariablePlace {
  readonly owner_id: string
  readonly holder_id: string
  readonly name: string
}

export interface SealedVariable extends VariablePlace {
  readonly key_id: string
  readonly sealed_value: Buffer
}

export function sealValue(key: EnvironmentKey, place: VariablePlace, value: string): SealedVariable {
  const { owner_id, holder_id, name } = place
  const sealed_value = seal(key.key, value, purposeOf(place))
  return { owner_id, holder_id, name, key_id: key.id, sealed_value }
}

/** null: its key is not configured any more, or the row is not the one that the value was sealed for. */
export function openValueOrNull(keys: EnvironmentKeys, variable: SealedVariable): string | null {
  const key = keys.find(({ id }) => id === variable.key_id)
  if (!key) return null
  try {
    return unseal(key.key, variable.sealed_value, purposeOf(variable))
  } catch {
    return null
  }
}

/** None of the parts can hold a line break, so that no two places read alike. */
function purposeOf({ owner_id, holder_id, name }: VariablePlace): string {
  return `valley environment\n${owner_id}\n${holder_id}\n${name}`
}
