import { z } from 'zod'
import { limits } from './limits.ts'
import { integerParamOr, MomentParam } from './scalars.ts'

/** The query of every list. */
export const Page = z.object({
  limit: integerParamOr(limits.pageItemsDefault, { min: 1, max: limits.pageItemsMax }),
  offset: integerParamOr(0, { min: 0, max: limits.offsetMax }),
  cursor: z
    .string()
    .max(limits.cursorCharsMax)
    .optional()
    .describe('Opaque; comes from links.next or links.prev and replaces offset.'),
})

/** The query of a list that can be bounded in time. */
export const TimedPage = Page.extend({
  since: MomentParam.optional().describe('Only what was created after this moment.'),
  until: MomentParam.optional().describe('Only what was created up to and including this moment.'),
})

export const Links = z
  .object({ self: z.url(), next: z.url().optional(), prev: z.url().optional() })
  .meta({ id: 'Links' })

/** The answer of every list: newest first, no total, absolute links. */
export function listOf<Item extends z.ZodType>(item: Item) {
  return z.object({ data: z.array(item), links: Links })
}

export type Page = z.output<typeof Page>
export type TimedPage = z.output<typeof TimedPage>
