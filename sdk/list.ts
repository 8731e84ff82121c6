/** One page of a list, newest first. */
export interface Page<Item> {
  readonly data: Item[]
  readonly links: Links
  /** The page after this one, or null after the last. */
  next(): Promise<Page<Item> | null>
  /** The page before this one, or null before the first. */
  prev(): Promise<Page<Item> | null>
}

/** `await` it for the first page, or `for await` over it for every item of all pages. */
export interface List<Item> extends Promise<Page<Item>>, AsyncIterable<Item> {}

interface Links {
  readonly self: string
  readonly next?: string | undefined
  readonly prev?: string | undefined
}

export interface PageBody<Item> {
  readonly data: Item[]
  readonly links: Links
}

/** Reads one page: the first, or the one with the query of a link. */
type ReadPage<Item> = (query?: string) => Promise<PageBody<Item>>

export function listFrom<Item>(read: ReadPage<Item>, signal: AbortSignal | undefined): List<Item> {
  const first = readPage(read)
  return Object.assign(first, { [Symbol.asyncIterator]: () => itemsFrom(first, signal) })
}

async function* itemsFrom<Item>(first: Promise<Page<Item>>, signal: AbortSignal | undefined) {
  for (let page: Page<Item> | null = await first; page !== null; page = await page.next()) {
    for (const item of page.data) {
      signal?.throwIfAborted()
      yield item
    }
  }
}

async function readPage<Item>(read: ReadPage<Item>, query?: string): Promise<Page<Item>> {
  const { data, links } = await read(query)
  return { data, links, next: () => follow(links.next), prev: () => follow(links.prev) }

  /**
   * Of a link only the query is used: the list stays the same, and behind a proxy the server may write an origin or a
   * path that leads elsewhere, where the token must not go.
   */
  async function follow(link: string | undefined): Promise<Page<Item> | null> {
    return link === undefined ? null : readPage(read, new URL(link).search)
  }
}
