import { type RawBuilder, sql } from 'kysely'
import { limits } from '@valley/contract/limits.ts'
import type { Page } from '@valley/contract/lists.ts'
import type { Addresses } from '../context.ts'
import { type Direction, pageOf } from '../page.ts'
import { presentBasicVal } from './present-val.ts'
import type { BasicValRow } from './val-row.ts'

/** A val in a list; its code is null from where the page has enough of it. */
export type ListedVal = Omit<BasicValRow, 'code'> & { readonly code: string | null }

/**
 * The code of `c`, as far as the page has room: a hundred of the largest vals would be 25 MB. The first row always
 * fits. A length is known without reading the text, so what does not fit is not read either.
 */
export function codeWithinPage(order: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`CASE
    WHEN sum(octet_length(c.code)) OVER (ORDER BY ${order} ROWS UNBOUNDED PRECEDING) - octet_length(c.code)
      < ${sql.lit(limits.pageCodeBytesMax)}
    THEN c.code END AS code`
}

interface FoundVals<Row> {
  readonly span: { readonly direction: Direction }
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
}

/** A page of vals: up to the limit, or to where its code grows too large; links.next goes on from there. */
export function pageOfVals<Row extends ListedVal>(
  addresses: Addresses,
  request: { readonly query: Page; readonly target: string },
  { span, rows, keyOf }: FoundVals<Row>,
) {
  const cut = rows.findIndex(({ code }) => code === null)
  return pageOf(addresses.baseUrl, request, {
    span,
    rows: cut === -1 ? rows : rows.slice(0, cut),
    isCut: cut !== -1,
    keyOf,
    present: (row) => presentBasicVal({ ...row, code: row.code ?? '' }, addresses),
  })
}
