import { highestId, isId, lowestId } from '../database/ids.ts'
import { extent, type PageRequest, readCursor } from '../page.ts'
import type { Handler } from '../reply.ts'
import { pageOfVals } from '../vals/page-of-vals.ts'
import { type SearchArgs, searchQuery, type SearchSpan, type Tier } from './queries.ts'

/** Shorter pieces of a name are not in the trigram index. */
const trigramChars = 3

export const searchVals: Handler<'searchVals'> = async (context, caller, request) => {
  const span = searchSpan(request)
  const args = { ...readQuery(request.query.query), ownerId: caller?.id ?? null }
  const { rows } = await searchQuery(args, span).execute(context.db)
  return pageOfVals(context, request, { span, rows, keyOf: ({ tier, id }) => `${tier}${id}` })
}

/** Every word has to occur; the last may be the beginning of one, since it may still be being typed. */
export function readQuery(query: string): Omit<SearchArgs, 'ownerId'> {
  const words = query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  const name = query.trim()
  return {
    name,
    words: words.length === 0 ? null : `${words.join(' & ')}:*`,
    namePattern: name.length < trigramChars ? null : `%${name.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`,
  }
}

export function searchSpan(request: PageRequest): SearchSpan {
  const page = request.query
  const everything = { above: lowestId, below: highestId }
  const nothing = { above: highestId, below: lowestId }
  const cursor = readCursor(request, (key) => /^[01]/.test(key) && isId(key.slice(1)))
  if (cursor === null) {
    return { direction: 'older', bounds: { 0: everything, 1: everything }, ...extent(page) }
  }
  const { direction } = cursor
  const tier: Tier = cursor.key.startsWith('0') ? 0 : 1
  const id = cursor.key.slice(1)
  const here = direction === 'older' ? { above: lowestId, below: id } : { above: id, below: highestId }
  // Older leads from the exact names to the others, newer the other way round.
  const other = (direction === 'older') === (tier === 0) ? everything : nothing
  return { direction, bounds: tier === 0 ? { 0: here, 1: other } : { 0: other, 1: here }, ...extent(page) }
}
