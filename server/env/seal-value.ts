import type { EnvironmentKey, EnvironmentKeys } from './keys.ts'
import { openWithKeysOrNull, type Sealed, sealWithKey } from './seal-with-key.ts'

/** Whose variable it is and what it is called: a value opens nowhere else. */
export interface VariablePlace {
  readonly owner_id: string
  readonly holder_id: string
  readonly name: string
}

export interface SealedVariable extends VariablePlace, Sealed {}

export function sealValue(key: EnvironmentKey, place: VariablePlace, value: string): SealedVariable {
  const { owner_id, holder_id, name } = place
  return { owner_id, holder_id, name, ...sealWithKey(key, purposeOfVariable(place), value) }
}

/** null: its key is not configured any more, or the row is not the one that the value was sealed for. */
export function openValueOrNull(keys: EnvironmentKeys, variable: SealedVariable): string | null {
  return openWithKeysOrNull(keys, purposeOfVariable(variable), variable)
}

/** None of the parts can hold a line break, so that no two places read alike. */
export function purposeOfVariable({ owner_id, holder_id, name }: VariablePlace): string {
  return `valley environment\n${owner_id}\n${holder_id}\n${name}`
}
