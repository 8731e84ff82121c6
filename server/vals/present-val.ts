import type { BasicVal, Val, ValMention } from '@valley/contract/vals.ts'
import { timeOf } from '../database/ids.ts'
import type { BasicValRow, MentionRow, ValRow } from './val-row.ts'

export function presentBasicVal(row: BasicValRow, baseUrl: string): BasicVal {
  const self = `${baseUrl}/v1/vals/${row.id}`
  return {
    id: row.id,
    author: { id: row.owner_id, username: row.username },
    name: row.name,
    code: row.code,
    privacy: row.privacy,
    type: row.type,
    version: row.version,
    versionCreatedAt: row.version_created_at.toISOString(),
    createdAt: timeOf(row.id).toISOString(),
    updatedAt: row.updated_at.toISOString(),
    url: `${baseUrl}/v/${row.username}/${row.name}`,
    links: { self, versions: `${self}/versions`, runs: `${self}/runs`, module: `${self}/module` },
  }
}

export function presentVal(row: ValRow, baseUrl: string): Val {
  return {
    ...presentBasicVal(row, baseUrl),
    readme: row.readme,
    likeCount: row.like_count,
    referenceCount: row.reference_count,
  }
}

export function presentMention(row: MentionRow): ValMention {
  return {
    id: row.val_id,
    name: row.val_name,
    author: { id: row.val_owner_id, username: row.val_username },
    privacy: row.val_privacy,
    version: row.val_version,
  }
}
