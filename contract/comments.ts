import { z } from 'zod'
import { limits } from './limits.ts'
import { listOf, Page, TimedPage } from './lists.ts'
import type { Operations } from './operation.ts'
import { Id, text, Timestamp } from './scalars.ts'
import { Author } from './users.ts'
import { ValId, ValMention } from './vals.ts'

export const Comment = z
  .object({
    id: Id,
    author: Author,
    comment: z.string().describe('Markdown.'),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    val: ValMention,
  })
  .meta({ id: 'Comment' })
export type Comment = z.infer<typeof Comment>

export const Relationship = z.enum(['any', 'given', 'received'])
export type Relationship = z.infer<typeof Relationship>

const CommentText = z.object({ comment: text({ min: 1, max: limits.commentCharsMax }) })
const CommentId = z.object({ comment_id: Id })

export const comments = {
  listMyComments: {
    method: 'GET',
    path: '/v1/me/comments',
    tag: 'Me',
    summary: 'List the comments that you gave or received',
    description: 'Received leaves out your own comments on your own vals.',
    auth: 'required',
    scope: 'user:read',
    query: TimedPage.extend({ relationship: Relationship.default('any') }),
    response: { 200: listOf(Comment) },
  },
  listComments: {
    method: 'GET',
    path: '/v1/vals/{val_id}/comments',
    tag: 'Comments',
    summary: 'List the comments on a val',
    auth: 'required',
    scope: 'val:read',
    params: ValId,
    query: Page,
    response: { 200: listOf(Comment) },
    errors: ['not_found'],
  },
  createComment: {
    method: 'POST',
    path: '/v1/vals/{val_id}/comments',
    tag: 'Comments',
    summary: 'Comment on a val',
    auth: 'required',
    scope: 'user:write',
    params: ValId,
    body: CommentText,
    response: { 201: Comment },
    errors: ['not_found'],
    exampleBody: { comment: 'Just what I was looking for.' },
  },
  updateComment: {
    method: 'PUT',
    path: '/v1/comments/{comment_id}',
    tag: 'Comments',
    summary: 'Change a comment of yours',
    auth: 'required',
    scope: 'user:write',
    params: CommentId,
    body: CommentText,
    response: { 200: Comment },
    errors: ['not_found', 'forbidden'],
    exampleBody: { comment: 'Just what I was looking for!' },
  },
  deleteComment: {
    method: 'DELETE',
    path: '/v1/comments/{comment_id}',
    tag: 'Comments',
    summary: 'Delete a comment: by its author or by the owner of the val',
    auth: 'required',
    scope: 'user:write',
    params: CommentId,
    response: { 204: null },
    errors: ['not_found', 'forbidden'],
  },
} as const satisfies Operations
