import { type RawBuilder, sql } from 'kysely'
import type { Direction, Span } from '../page.ts'
import { type Db, type NamedQuery, type Statement, statement } from './statement.ts'

type SpanArgs<Key> = { above: Key; below: Key; limit: number; offset: number }

/** The parts of a list's SQL that follow from its span. */
export interface SpanSql {
  readonly within: (key: RawBuilder<unknown>) => RawBuilder<unknown>
  readonly order: RawBuilder<unknown>
  readonly extent: RawBuilder<unknown>
  /** For a list that is merged from several: the most that any one of them can contribute. */
  readonly reach: RawBuilder<unknown>
}

type Arg<Args> = <Name extends keyof Args>(name: Name) => Args[Name]

interface ListStatement<Args, Row, Key> {
  (db: Db, args: Args, span: Span<Key>): Promise<readonly Row[]>
  toQuery(args: Args, span: Span<Key>): NamedQuery
}

/** A list in both directions: one prepared statement towards older rows, one towards newer ones. */
export function listStatement<Args extends object, Row, Key = string>(
  write: (arg: Arg<Args>, span: SpanSql) => RawBuilder<Row>,
): ListStatement<Args, Row, Key> {
  const towards = (direction: Direction): Statement<Args & SpanArgs<Key>, Row> =>
    statement((arg) => write(arg as Arg<Args>, spanSql(arg as Arg<SpanArgs<Key>>, direction)))
  const statements = { older: towards('older'), newer: towards('newer') }
  const execute = async (db: Db, args: Args, span: Span<Key>) => {
    const { rows } = await statements[span.direction](db, { ...args, ...boundsOf(span) })
    return rows
  }
  const toQuery = (args: Args, span: Span<Key>) =>
    statements[span.direction].toQuery({ ...args, ...boundsOf(span) })
  return Object.assign(execute, { toQuery })
}

function boundsOf<Key>({ above, below, limit, offset }: Span<Key>): SpanArgs<Key> {
  return { above, below, limit, offset }
}

function spanSql<Key>(arg: Arg<SpanArgs<Key>>, direction: Direction): SpanSql {
  return {
    within: (key) => sql`${key} > ${arg('above')} AND ${key} < ${arg('below')}`,
    order: direction === 'older' ? sql`DESC` : sql`ASC`,
    extent: sql`LIMIT ${arg('limit')} OFFSET ${arg('offset')}`,
    reach: sql`LIMIT ${arg('limit')}::bigint + ${arg('offset')}::bigint`,
  }
}
