import { z } from 'zod'
import { listOf, Page } from './lists.ts'
import type { Operations } from './operation.ts'
import { Id, Timestamp, ValName, VersionParam } from './scalars.ts'
import { Author } from './users.ts'
import { Code, Val, ValFields, ValId } from './vals.ts'

export const Version = z
  .object({ val_id: Id, version: z.int(), createdAt: Timestamp, author: Author })
  .meta({ id: 'Version' })
export type Version = z.infer<typeof Version>

const VersionOfVal = ValId.extend({ version: VersionParam })

export const versions = {
  listVersions: {
    method: 'GET',
    path: '/v1/vals/{val_id}/versions',
    tag: 'Versions',
    summary: 'List the versions of a val',
    auth: 'optional',
    scope: 'val:read',
    params: ValId,
    query: Page,
    response: { 200: listOf(Version) },
    errors: ['not_found'],
  },
  createVersion: {
    method: 'POST',
    path: '/v1/vals/{val_id}/versions',
    tag: 'Versions',
    summary: 'Save new code as the next version',
    description:
      '200 and no new version when the code is the same as the current one. Raw code may be sent instead of JSON; ?name= then renames the val.',
    auth: 'required',
    scope: 'val:write',
    params: ValId,
    query: z.object({ name: ValName.optional() }),
    body: ValFields.extend({ code: Code }),
    takesRawCode: true,
    response: { 200: Val, 201: Val },
    etag: true,
    ifMatch: true,
    errors: ['not_found', 'forbidden', 'name_taken'],
    exampleBody: { code: 'export default () => new Response("Hello again")' },
  },
  getVersion: {
    method: 'GET',
    path: '/v1/vals/{val_id}/versions/{version}',
    tag: 'Versions',
    summary: "Get a val as of one version: that version's code and number",
    auth: 'optional',
    scope: 'val:read',
    params: VersionOfVal,
    response: { 200: Val },
    etag: true,
    errors: ['not_found'],
  },
  deleteVersion: {
    method: 'DELETE',
    path: '/v1/vals/{val_id}/versions/{version}',
    tag: 'Versions',
    summary: 'Delete one version; the newest remaining becomes current',
    auth: 'required',
    scope: 'val:write',
    params: VersionOfVal,
    response: { 204: null },
    ifMatch: true,
    errors: ['not_found', 'forbidden', 'last_version'],
  },
} as const satisfies Operations
