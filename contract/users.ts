import { z } from 'zod'
import { limits } from './limits.ts'
import type { Operations } from './operation.ts'
import { Id, text, Timestamp, Username } from './scalars.ts'

export const Author = z.object({ id: Id, username: Username }).meta({ id: 'Author' })
export type Author = z.infer<typeof Author>

export const User = z
  .object({
    id: Id,
    username: Username,
    bio: z.string().nullable(),
    profileImageUrl: z.string().nullable(),
    type: z.literal('user'),
    url: z.url(),
    links: z.object({ self: z.url() }),
  })
  .meta({ id: 'User' })
export type User = z.infer<typeof User>

export const Me = User.extend({ email: z.string().nullable(), createdAt: Timestamp }).meta({ id: 'Me' })
export type Me = z.infer<typeof Me>

const UserChange = z.object({
  username: Username.optional(),
  bio: text({ max: limits.bioCharsMax }).nullable().optional(),
  profileImageUrl: z
    .url({ protocol: /^https?$/, error: 'must be an http or https address' })
    .max(limits.urlCharsMax)
    .refine((url) => url.isWellFormed() && !url.includes('\0'), 'must be well-formed')
    .nullable()
    .optional(),
})

export const users = {
  getMe: {
    method: 'GET',
    path: '/v1/me',
    tag: 'Me',
    summary: 'Get your own profile',
    auth: 'required',
    scope: 'user:read',
    response: { 200: Me },
  },
  updateMe: {
    method: 'PUT',
    path: '/v1/me',
    tag: 'Me',
    summary: 'Change your own profile',
    description: 'Fields that are left out stay as they are; null clears one.',
    auth: 'required',
    scope: 'user:write',
    body: UserChange,
    response: { 200: Me },
    errors: ['name_taken'],
    exampleBody: { bio: 'I write small programs.' },
  },
  getUser: {
    method: 'GET',
    path: '/v1/users/{user_id}',
    tag: 'Users',
    summary: 'Get a user by id',
    auth: 'optional',
    scope: 'user:read',
    params: z.object({ user_id: Id }),
    response: { 200: User },
    errors: ['not_found'],
  },
  getUserByName: {
    method: 'GET',
    path: '/v1/alias/{username}',
    tag: 'Users',
    summary: 'Get a user by username',
    auth: 'optional',
    scope: 'user:read',
    params: z.object({ username: Username }),
    response: { 200: User },
    errors: ['not_found'],
  },
} as const satisfies Operations
