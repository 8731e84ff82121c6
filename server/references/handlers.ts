import { timeOf } from '../database/ids.ts'
import { idSpan, pageOf } from '../page.ts'
import type { Handler } from '../reply.ts'
import { selectReferencesTo } from './queries.ts'

export const listMyReferences: Handler<'listMyReferences'> = async ({ db, baseUrl }, caller, request) => {
  const span = idSpan(request)
  const rows = await selectReferencesTo(db, { owner_id: caller.id }, span)
  return pageOf(baseUrl, request, {
    span,
    rows,
    keyOf: ({ id }) => id,
    present: (row) => ({
      referencedAt: timeOf(row.id).toISOString(),
      reference: {
        id: row.val_id,
        name: row.val_name,
        username: row.val_username,
        author_id: row.val_owner_id,
      },
      dependsOn: {
        id: row.depends_on_id,
        name: row.depends_on_name,
        username: caller.username,
        author_id: caller.id,
      },
    }),
  })
}
