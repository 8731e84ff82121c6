import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto'

const keyBytes = 32

/** A key that values are encrypted with. As a KeyObject it prints as nothing, wherever it ends up. */
export interface EnvironmentKey {
  readonly id: string
  readonly key: KeyObject
}

/** The first encrypts, all of them decrypt. Empty: the operator has set none. */
export type EnvironmentKeys = readonly EnvironmentKey[]

/** Reads `id:base64,id:base64`; null when it does not fit. */
export function parseKeysOrNull(text: string): EnvironmentKeys | null {
  const keys = text.split(',').map((part) => parseKeyOrNull(part.trim()))
  const good = keys.filter((key) => key !== null)
  const isDistinct = new Set(good.map(({ id }) => id)).size === keys.length
  return isDistinct ? good : null
}

/** A new key as the configuration writes it. */
export function newKeyText(id: string): string {
  return `${id}:${randomBytes(keyBytes).toString('base64')}`
}

function parseKeyOrNull(text: string): EnvironmentKey | null {
  const [, id, base64] = /^([\w-]{1,32}):([A-Za-z0-9+/_-]{43}=?)$/.exec(text) ?? []
  if (id === undefined || base64 === undefined) return null
  const bytes = Buffer.from(base64, 'base64')
  return bytes.length === keyBytes ? { id, key: createSecretKey(bytes) } : null
}
