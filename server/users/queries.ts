import { type InsertResult, sql } from 'kysely'
import { build, statement } from '../database/statement.ts'

export interface UserRow {
  readonly id: string
  readonly username: string
  readonly email: string | null
  readonly bio: string | null
  readonly profile_image_url: string | null
}

export const selectUserById = statement<{ id: string }, UserRow>((arg) =>
  build.selectFrom('users').selectAll().where('id', '=', arg('id')),
)

export const selectUserByName = statement<{ username: string }, UserRow>((arg) =>
  build.selectFrom('users').selectAll().where('username', '=', arg('username')),
)

export const selectUserForUpdate = statement<{ id: string }, { id: string }>(
  (arg) => sql<{ id: string }>`SELECT id FROM users WHERE id = ${arg('id')} FOR NO KEY UPDATE`,
)

export const insertUser = statement<{ id: string; username: string; email: string | null }, InsertResult>(
  (arg) =>
    build.insertInto('users').values({ id: arg('id'), username: arg('username'), email: arg('email') }),
)

export const selectUsernames = statement<{ limit: number }, { username: string }>(
  (arg) => sql<{ username: string }>`SELECT username FROM users ORDER BY id LIMIT ${arg('limit')}`,
)

interface UserChangeArgs {
  id: string
  username: string | null
  sets_bio: boolean
  bio: string | null
  sets_image: boolean
  image: string | null
}

export const updateUser = statement<UserChangeArgs, UserRow>(
  (arg) => sql<UserRow>`
    UPDATE users SET
      username = coalesce(${arg('username')}, username),
      bio = CASE WHEN ${arg('sets_bio')}::boolean THEN ${arg('bio')} ELSE bio END,
      profile_image_url = CASE WHEN ${arg('sets_image')}::boolean THEN ${arg('image')} ELSE profile_image_url END
    WHERE id = ${arg('id')}
    RETURNING *`,
)
