import { endpointLabel } from '@valley/contract/endpoint.ts'
import type { BasicVal, Val, ValMention } from '@valley/contract/vals.ts'
import type { Addresses } from '../context.ts'
import { timeOf } from '../database/ids.ts'
import type { BasicValRow, MentionRow, ValRow } from './val-row.ts'

export function presentBasicVal(row: BasicValRow, { baseUrl, valsUrl }: Addresses): BasicVal {
  const self = `${baseUrl}/v1/vals/${row.id}`
  const endpoint = endpointOf(row, valsUrl)
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
    links: {
      self,
      versions: `${self}/versions`,
      runs: `${self}/runs`,
      module: `${self}/module`,
      ...(endpoint && { endpoint }),
    },
  }
}

export function presentVal(row: ValRow, addresses: Addresses): Val {
  return {
    ...presentBasicVal(row, addresses),
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

/** Where the val answers; undefined for a script, and where vals have no domain. */
function endpointOf(row: BasicValRow, valsUrl: string | undefined): string | undefined {
  if (row.type !== 'http' || valsUrl === undefined) return undefined
  return valsUrl.replace('://', `://${endpointLabel(row)}.`)
}
