import { randomBytes } from 'node:crypto'
import type { EnvironmentKey, EnvironmentKeys } from '../env/keys.ts'
import { openWithKeysOrNull, type Sealed, sealWithKey } from '../env/seal-with-key.ts'
import { type SealedRow, sealedTable } from '../env/sealed-table.ts'

const secretBytes = 32

/** Whose secret it is: it opens nowhere else. */
export interface SecretPlace {
  readonly owner_id: string
  readonly val_id: string
}

/** As Standard Webhooks writes it. */
export function newSecret(): string {
  return `whsec_${randomBytes(secretBytes).toString('base64')}`
}

export function sealSecret(key: EnvironmentKey, place: SecretPlace, secret: string): Sealed {
  return sealWithKey(key, purposeOf(place), secret)
}

export function openSecretOrNull(keys: EnvironmentKeys, sealed: SecretPlace & Sealed): string | null {
  return openWithKeysOrNull(keys, purposeOf(sealed), sealed)
}

/** What a change of keys has to know. */
export const alertSecrets = sealedTable<SecretPlace & SealedRow>({
  table: 'alerts',
  columns: ['owner_id', 'val_id'],
  purposeOf,
})

function purposeOf({ owner_id, val_id }: SecretPlace): string {
  return `valley alerts\n${owner_id}\n${val_id}`
}
