import assert from 'node:assert/strict'
import type { TestCaller } from './call-as.ts'

export interface List<Item> {
  readonly data: readonly Item[]
  readonly links: { readonly self: string; readonly next?: string; readonly prev?: string }
}

const pagesMax = 100

export async function readList<Item>(caller: TestCaller, path: string): Promise<List<Item>> {
  const { status, body, text } = await caller.get<List<Item>>(path)
  assert.equal(status, 200, text)
  return body
}

/** The pages from this one along links.next or links.prev until there is none, this one included. */
export async function followLinks<Item>(
  caller: TestCaller,
  path: string,
  link: 'next' | 'prev' = 'next',
): Promise<readonly List<Item>[]> {
  const pages: List<Item>[] = []
  for (let at: string | undefined = path; at !== undefined; at = pages.at(-1)?.links[link]) {
    assert.ok(pages.length < pagesMax, `${path} has no end`)
    pages.push(await readList<Item>(caller, at))
  }
  return pages
}

/** Checks that a list of more than one page can be walked to its end and back; returns its items in order. */
export async function walkThereAndBack<Item>(caller: TestCaller, path: string): Promise<readonly Item[]> {
  const there = await followLinks<Item>(caller, path)
  assert.ok(there.length > 1, `${path} should have more than one page`)
  const back = await followLinks<Item>(caller, there.at(-1)?.links.self ?? path, 'prev')
  const seen = there.map(({ data }) => data)
  assert.deepEqual(
    back.toReversed().map(({ data }) => data),
    seen,
  )
  assert.equal(back.at(-1)?.links.prev, undefined)
  return seen.flat()
}
