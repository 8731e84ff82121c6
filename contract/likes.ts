import { listOf, Page } from './lists.ts'
import type { Operations } from './operation.ts'
import { BasicVal, ValId } from './vals.ts'

export const likes = {
  listMyLikes: {
    method: 'GET',
    path: '/v1/me/likes',
    tag: 'Me',
    summary: 'List the vals that you like, newest like first',
    auth: 'required',
    scope: 'user:read',
    query: Page,
    response: { 200: listOf(BasicVal) },
  },
  likeVal: {
    method: 'PUT',
    path: '/v1/me/likes/{val_id}',
    tag: 'Me',
    summary: 'Like a val; again is fine',
    auth: 'required',
    scope: 'user:write',
    params: ValId,
    response: { 204: null },
    errors: ['not_found'],
  },
  unlikeVal: {
    method: 'DELETE',
    path: '/v1/me/likes/{val_id}',
    tag: 'Me',
    summary: 'Take a like back; again is fine',
    auth: 'required',
    scope: 'user:write',
    params: ValId,
    response: { 204: null },
    errors: ['not_found'],
  },
} as const satisfies Operations
