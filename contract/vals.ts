import { z } from 'zod'
import { limits } from './limits.ts'
import { listOf, Page } from './lists.ts'
import type { Operations } from './operation.ts'
import { Id, integerParam, text, Timestamp, Username, ValName } from './scalars.ts'
import { Author } from './users.ts'

export const privacies = ['public', 'unlisted', 'private'] as const
export const Privacy = z.enum(privacies).meta({ id: 'Privacy' })
export type Privacy = z.infer<typeof Privacy>

export const ValType = z.enum(['script', 'http']).meta({ id: 'ValType' })
export type ValType = z.infer<typeof ValType>

const ValLinks = z.object({
  self: z.url(),
  versions: z.url(),
  runs: z.url(),
  module: z.url().describe('The code itself, as a module that can be imported.'),
  endpoint: z.url().optional().describe('Where an http val answers.'),
})

export const BasicVal = z
  .object({
    id: Id,
    author: Author,
    name: ValName,
    code: z.string(),
    privacy: Privacy,
    type: ValType,
    version: z.int(),
    versionCreatedAt: Timestamp,
    createdAt: Timestamp,
    updatedAt: Timestamp,
    url: z.url(),
    links: ValLinks,
  })
  .meta({ id: 'BasicVal' })
export type BasicVal = z.infer<typeof BasicVal>

export const Val = BasicVal.extend({
  readme: z.string().nullable(),
  likeCount: z.int(),
  referenceCount: z.int(),
}).meta({ id: 'Val' })
export type Val = z.infer<typeof Val>

/** A val as it is named inside other records. */
export const ValMention = z
  .object({ id: Id, name: ValName, author: Author, privacy: Privacy, version: z.int() })
  .meta({ id: 'ValMention' })
export type ValMention = z.infer<typeof ValMention>

export const ValId = z.object({ val_id: Id })

export const Code = text({ min: 1, max: limits.codeCharsMax })

/** What a save may set beside the code. Left out: stays as it is, or its default on a new val. */
export const ValFields = z.object({
  name: ValName.optional(),
  readme: text({ max: limits.readmeCharsMax }).nullable().optional(),
  privacy: Privacy.optional(),
  type: ValType.optional(),
})
export type ValFields = z.infer<typeof ValFields>

const helloCode = 'export default () => new Response("Hello from the valley")'

export const vals = {
  createVal: {
    method: 'POST',
    path: '/v1/vals',
    tag: 'Vals',
    summary: 'Create a val and its first version',
    description:
      'Left out, the name is generated, privacy is public and type is script. Raw code may be sent instead of JSON; its name, type and privacy then come from the query.',
    auth: 'required',
    scope: 'val:write',
    query: ValFields.pick({ name: true, type: true, privacy: true }),
    body: ValFields.extend({ code: Code }),
    takesRawCode: true,
    response: { 201: Val },
    etag: true,
    errors: ['name_taken'],
    exampleBody: { name: 'hello', type: 'http', code: helloCode, readme: 'Says hello.' },
  },
  putVal: {
    method: 'PUT',
    path: '/v1/vals',
    tag: 'Vals',
    summary: 'Create a val, or update the one of yours with this name',
    description: 'The same code and fields again change nothing and make no new version.',
    auth: 'required',
    scope: 'val:write',
    body: ValFields.extend({ name: ValName, code: Code }),
    response: { 200: Val, 201: Val },
    etag: true,
    ifMatch: true,
    exampleBody: { name: 'hello', code: helloCode },
  },
  getVal: {
    method: 'GET',
    path: '/v1/vals/{val_id}',
    tag: 'Vals',
    summary: 'Get a val by id',
    auth: 'optional',
    scope: 'val:read',
    params: ValId,
    response: { 200: Val },
    etag: true,
    errors: ['not_found'],
  },
  updateVal: {
    method: 'PUT',
    path: '/v1/vals/{val_id}',
    tag: 'Vals',
    summary: 'Change name, readme, privacy or type, without a new version',
    auth: 'required',
    scope: 'val:write',
    params: ValId,
    body: ValFields,
    response: { 204: null },
    ifMatch: true,
    errors: ['not_found', 'forbidden', 'name_taken'],
    exampleBody: { privacy: 'unlisted' },
  },
  deleteVal: {
    method: 'DELETE',
    path: '/v1/vals/{val_id}',
    tag: 'Vals',
    summary: 'Delete a val with its versions, likes, comments, references, runs and variables',
    auth: 'required',
    scope: 'val:write',
    params: ValId,
    response: { 204: null },
    ifMatch: true,
    errors: ['not_found', 'forbidden'],
  },
  getModule: {
    method: 'GET',
    path: '/v1/vals/{val_id}/module',
    tag: 'Vals',
    summary: 'Get the code as a module that can be imported',
    auth: 'optional',
    scope: 'val:read',
    params: ValId,
    query: z.object({ version: integerParam({ min: 1, max: limits.versionMax }).optional() }),
    response: { 200: z.string() },
    media: 'application/typescript',
    errors: ['not_found'],
  },
  listMyVals: {
    method: 'GET',
    path: '/v1/me/vals',
    tag: 'Me',
    summary: 'List your vals',
    auth: 'required',
    scope: 'val:read',
    query: Page,
    response: { 200: listOf(BasicVal) },
  },
  listUserVals: {
    method: 'GET',
    path: '/v1/users/{user_id}/vals',
    tag: 'Users',
    summary: "List a user's vals: the public ones, or all of your own",
    auth: 'required',
    scope: 'val:read',
    params: z.object({ user_id: Id }),
    query: Page,
    response: { 200: listOf(BasicVal) },
    errors: ['not_found'],
  },
  getValByName: {
    method: 'GET',
    path: '/v1/alias/{username}/{val_name}',
    tag: 'Vals',
    summary: 'Get a val by its owner and name',
    description: 'The name is matched without regard to case. An unlisted val is found by its id only.',
    auth: 'optional',
    scope: 'val:read',
    params: z.object({ username: Username, val_name: ValName }),
    response: { 200: Val },
    etag: true,
    errors: ['not_found'],
  },
} as const satisfies Operations
