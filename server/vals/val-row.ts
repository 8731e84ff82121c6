import type { Privacy, ValType } from '@valley/contract/vals.ts'

/** A val without its code: what a save returns. */
export interface SavedVal {
  readonly id: string
  readonly owner_id: string
  readonly name: string
  readonly privacy: Privacy
  readonly type: ValType
  readonly readme: string | null
  readonly version: number
  readonly version_created_at: Date
  readonly updated_at: Date
  readonly like_count: number
  readonly reference_count: number
}

export interface ValRow extends SavedVal {
  readonly username: string
  readonly code: string
}

export type BasicValRow = Omit<ValRow, 'readme' | 'like_count' | 'reference_count'>

/** A val as it is named inside other records. */
export interface MentionRow {
  readonly val_id: string
  readonly val_name: string
  readonly val_privacy: Privacy
  readonly val_version: number
  readonly val_owner_id: string
  readonly val_username: string
}
