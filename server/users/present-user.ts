import type { Me, User } from '@valley/contract/users.ts'
import { timeOf } from '../database/ids.ts'
import type { UserRow } from './queries.ts'

export function presentUser(row: UserRow, baseUrl: string): User {
  return {
    id: row.id,
    username: row.username,
    bio: row.bio,
    profileImageUrl: row.profile_image_url,
    type: 'user',
    url: `${baseUrl}/u/${row.username}`,
    links: { self: `${baseUrl}/v1/users/${row.id}` },
  }
}

/** What only the user sees. */
export function presentMe(row: UserRow, baseUrl: string): Me {
  return { ...presentUser(row, baseUrl), email: row.email, createdAt: timeOf(row.id).toISOString() }
}
