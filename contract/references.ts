import { z } from 'zod'
import { listOf, TimedPage } from './lists.ts'
import type { Operations } from './operation.ts'
import { Id, Timestamp, Username, ValName } from './scalars.ts'

const ReferenceEnd = z.object({ id: Id, name: ValName, username: Username, author_id: Id })

export const Reference = z
  .object({
    referencedAt: Timestamp,
    reference: ReferenceEnd.describe('The val that imports.'),
    dependsOn: ReferenceEnd.describe('The val that is imported.'),
  })
  .meta({ id: 'Reference' })
export type Reference = z.infer<typeof Reference>

export const references = {
  listMyReferences: {
    method: 'GET',
    path: '/v1/me/references',
    tag: 'Me',
    summary: 'List the vals that depend on any of yours',
    auth: 'required',
    scope: 'val:read',
    query: TimedPage,
    response: { 200: listOf(Reference) },
  },
} as const satisfies Operations
