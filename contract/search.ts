import { limits } from './limits.ts'
import { listOf, Page } from './lists.ts'
import type { Operations } from './operation.ts'
import { text } from './scalars.ts'
import { BasicVal } from './vals.ts'

export const search = {
  searchVals: {
    method: 'GET',
    path: '/v1/search/vals',
    tag: 'Search',
    summary: 'Search the names, readmes and code of public vals and of your own',
    description:
      'Every word must occur; the last one may be the beginning of a word. Vals of exactly that name come first, then the newest.',
    auth: 'optional',
    scope: 'val:read',
    query: Page.extend({ query: text({ min: 1, max: limits.searchQueryCharsMax }) }),
    response: { 200: listOf(BasicVal) },
  },
} as const satisfies Operations
