import { crc32 } from 'node:zlib'
import type { Page, TimedPage } from '@valley/contract/lists.ts'
import { highestId, isId, lastIdOf, lowestId } from './database/ids.ts'
import { Fault } from './fault.ts'

export type Direction = 'older' | 'newer'

/** Which rows a page asks for: those strictly between two keys, from one end of them. */
export interface Span<Key> {
  readonly direction: Direction
  readonly above: Key
  readonly below: Key
  /** One more than the page shows: whether it comes tells whether there is a next page. */
  readonly limit: number
  readonly offset: number
}

export interface Cursor {
  readonly direction: Direction
  readonly key: string
}

/** The span of a list whose key is an id; since and until bound it like a cursor does. */
export function idSpan(request: PageRequest<Page | TimedPage>): Span<string> {
  const page = request.query
  const since = 'since' in page && page.since ? lastIdOf(page.since) : lowestId
  const until = 'until' in page && page.until ? lastIdOf(page.until) : highestId
  const cursor = readCursor(request, isId)
  const isOlder = cursor?.direction !== 'newer'
  return {
    direction: isOlder ? 'older' : 'newer',
    above: cursor && !isOlder && cursor.key > since ? cursor.key : since,
    below: cursor && isOlder && cursor.key < until ? cursor.key : until,
    ...extent(page),
  }
}

/** The span of a list whose key is a whole number. */
export function numberSpan(
  request: PageRequest,
  { above, below }: { readonly above: number; readonly below: number },
): Span<number> {
  const page = request.query
  const cursor = readCursor(request, (key) => /^\d{1,10}$/.test(key) && Number(key) <= below)
  if (cursor === null) return { direction: 'older', above, below, ...extent(page) }
  const key = Number(cursor.key)
  const bounds = cursor.direction === 'older' ? { above, below: key } : { above: key, below }
  return { direction: cursor.direction, ...bounds, ...extent(page) }
}

export function extent(page: Page) {
  return { limit: page.limit + 1, offset: page.cursor === undefined ? page.offset : 0 }
}

/** A list as it was asked for. */
export interface PageRequest<Query = Page> {
  readonly query: Query
  readonly target: string
}

/** Where the page begins; null at the beginning of the list. */
export function readCursor({ query, target }: PageRequest, isKey: (key: string) => boolean): Cursor | null {
  if (query.cursor === undefined) return null
  const text = Buffer.from(query.cursor, 'base64url').toString()
  const [, list, mark, key = ''] = /^(\w+)([<>])(.*)$/.exec(text) ?? []
  if (list !== markOf(target) || !isKey(key)) {
    throw new Fault(
      'invalid_request',
      'The cursor is not one of this list. Start again from its first page.',
      {
        issues: [
          { path: 'query.cursor', message: 'must come from links.next or links.prev of the same list' },
        ],
      },
    )
  }
  return { direction: mark === '<' ? 'older' : 'newer', key }
}

function writeCursor(target: string, { direction, key }: Cursor): string {
  return Buffer.from(`${markOf(target)}${direction === 'older' ? '<' : '>'}${key}`).toString('base64url')
}

/** Tells the cursors of one list from those of another: the keys of most of them look alike. */
function markOf(target: string): string {
  const [path = ''] = target.split('?')
  return crc32(path.replace(/\/$/, '')).toString(36)
}

interface Found<Row, Item> {
  readonly span: { readonly direction: Direction }
  readonly rows: readonly Row[]
  /** Whether there are more rows than these, besides one over the limit. */
  readonly isCut?: boolean
  readonly keyOf: (row: Row) => string | number
  readonly present: (row: Row) => Item
}

/** The answer of a list from the rows that its span found. */
export function pageOf<Row, Item>(
  baseUrl: string,
  { query, target }: PageRequest,
  { span, rows, isCut = false, keyOf, present }: Found<Row, Item>,
) {
  const isOlder = span.direction === 'older'
  const shown = isOlder ? rows.slice(0, query.limit) : rows.slice(0, query.limit).toReversed()
  const hasMore = isCut || rows.length > query.limit
  const [first, last] = [shown.at(0), shown.at(-1)]
  const url = new URL(baseUrl + target)
  const self = url.href
  const linkTo = (direction: Direction, row: Row) =>
    cursorLink(url, writeCursor(target, { direction, key: String(keyOf(row)) }))
  const next = last !== undefined && (hasMore || !isOlder) ? linkTo('older', last) : undefined
  const arrivedByCursor = query.cursor !== undefined
  const prev =
    first !== undefined && (isOlder ? arrivedByCursor : hasMore) ? linkTo('newer', first) : undefined
  const before = prev ?? (!arrivedByCursor && query.offset > 0 ? offsetLink(url, query) : undefined)
  return {
    data: shown.map(present),
    links: { self, ...(next && { next }), ...(before && { prev: before }) },
  }
}

/** Both links differ from the list's own only in where they begin, so they are written over it one after the other. */
function cursorLink(url: URL, cursor: string): string {
  url.searchParams.delete('offset')
  url.searchParams.set('cursor', cursor)
  return url.href
}

function offsetLink(url: URL, { offset, limit }: Page): string {
  url.searchParams.delete('cursor')
  url.searchParams.set('offset', String(Math.max(0, offset - limit)))
  return url.href
}
