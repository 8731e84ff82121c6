import { seal, unseal } from '../seal.ts'
import type { EnvironmentKey, EnvironmentKeys } from './keys.ts'

export interface Sealed {
  readonly key_id: string
  readonly sealed_value: Buffer
}

/** The purpose says which row it is for: a text opens nowhere else. */
export function sealWithKey({ id, key }: EnvironmentKey, purpose: string, text: string): Sealed {
  return { key_id: id, sealed_value: seal(key, text, purpose) }
}

/** null: its key is not configured any more, or the row is not the one that it was sealed for. */
export function openWithKeysOrNull(
  keys: EnvironmentKeys,
  purpose: string,
  { key_id, sealed_value }: Sealed,
): string | null {
  const key = keys.find(({ id }) => id === key_id)
  if (!key) return null
  try {
    return unseal(key.key, sealed_value, purpose)
  } catch {
    return null
  }
}
