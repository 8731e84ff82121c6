import assert from 'node:assert/strict'
import type { TestServer } from '../open-test-server.ts'
import { call, range } from './call.ts'
import type { OpenList } from './lists.ts'

const olderRows = 40
const pagesMax = 500

interface Page {
  readonly data: readonly object[]
  readonly links: { readonly next?: string }
}

/**
 * Reads a list from its first page to its last. Beside every page that is read, one row is added and one taken
 * away, so that the list is never the same twice; what was there before and stayed must be seen once.
 */
export async function followWhileOthersWrite(
  server: TestServer,
  list: OpenList,
  limit: number,
): Promise<void> {
  const older: string[] = []
  for (const _ of range(olderRows)) older.push(await list.add())
  const doomed = older.filter((_, index) => index % 4 === 1)
  const staying = older.filter((key) => !doomed.includes(key))

  const seen: string[] = []
  let to: string | undefined = `${list.path}?limit=${limit}`
  for (let pages = 0; to !== undefined; pages++) {
    assert.ok(pages < pagesMax, 'links.next does not come to an end')
    const gone = doomed.pop()
    const [page]: [Page, ...unknown[]] = await Promise.all([
      readPage(server, list, to),
      list.add(),
      ...(gone === undefined ? [] : [list.remove(gone)]),
    ])
    assert.ok(page.data.length <= limit)
    seen.push(...page.data.map(list.keyOf))
    to = page.links.next
  }
  assert.equal(new Set(seen).size, seen.length, 'a row was shown twice')
  assert.deepEqual(
    seen.filter((key) => staying.includes(key)),
    staying.toReversed(),
  )
}

async function readPage(server: TestServer, { reader }: OpenList, to: string): Promise<Page> {
  const { status, body } = await call(server, { method: 'GET', to, as: reader })
  assert.equal(status, 200)
  return body as Page
}
