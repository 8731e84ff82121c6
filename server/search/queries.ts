import { type RawBuilder, sql } from 'kysely'
import type { Direction } from '../page.ts'
import { codeWithinPage, type ListedVal } from '../vals/page-of-vals.ts'

/** 0: a val of exactly the name asked for; 1: one in which the words occur. */
export type Tier = 0 | 1

export type FoundVal = ListedVal & { readonly tier: Tier }

export interface SearchArgs {
  /** Whose other than public vals are searched too; null: nobody's. */
  readonly ownerId: string | null
  readonly name: string
  /** A tsquery of the words; null when there are none. */
  readonly words: string | null
  /** A LIKE pattern for names; null when the query is too short for the trigram index. */
  readonly namePattern: string | null
}

/** Between which ids each tier is read: a page may end in the first tier and go on in the second. */
export interface SearchSpan {
  readonly direction: Direction
  readonly bounds: Readonly<Record<Tier, { readonly above: string; readonly below: string }>>
  readonly limit: number
  readonly offset: number
}

/**
 * Not a prepared statement: how common the words are decides between reading the newest vals until enough match and
 * collecting the few that do, so each search is planned with its own words.
 */
export function searchQuery(args: SearchArgs, span: SearchSpan): RawBuilder<FoundVal> {
  const order = span.direction === 'older' ? sql`DESC` : sql`ASC`
  const tierOrder = span.direction === 'older' ? sql`ASC` : sql`DESC`
  const branches = branchesOf(args).map(({ tier, where }) => branch(tier, where, { span, order }))
  return sql<FoundVal>`
    SELECT f.tier, v.id, v.owner_id, v.name, v.privacy, v.type, v.version, v.version_created_at, v.updated_at,
      u.username, ${codeWithinPage(sql`f.tier ${tierOrder}, v.id ${order}`)}
    FROM (
      SELECT tier, val_id FROM (${sql.join(branches, sql` UNION ALL `)}) every
      ORDER BY tier ${tierOrder}, val_id ${order} LIMIT ${span.limit} OFFSET ${span.offset}
    ) f JOIN vals v ON v.id = f.val_id JOIN users u ON u.id = v.owner_id JOIN codes c ON c.hash = v.code_hash
    ORDER BY f.tier ${tierOrder}, v.id ${order}`
}

interface Branch {
  readonly tier: Tier
  readonly where: RawBuilder<unknown>
}

/** Each branch has an index of its own, so that what the caller may not see is never read. */
function branchesOf({ ownerId, name, words, namePattern }: SearchArgs): readonly Branch[] {
  const visible = [
    sql`is_public`,
    ...(ownerId === null ? [] : [sql`NOT is_public AND owner_id = ${ownerId}`]),
  ]
  const hits = [
    words === null ? null : sql`words @@ to_tsquery('simple', ${words})`,
    namePattern === null ? null : sql`name ILIKE ${namePattern}`,
  ].filter((hit) => hit !== null)
  const exact = sql`lower(name) = lower(${name})`
  return visible.flatMap((mine): readonly Branch[] => [
    { tier: 0, where: sql`${mine} AND ${exact}` },
    ...(hits.length === 0
      ? []
      : [{ tier: 1 as const, where: sql`${mine} AND (${sql.join(hits, sql` OR `)}) AND NOT ${exact}` }]),
  ])
}

interface BranchSpan {
  readonly span: SearchSpan
  readonly order: RawBuilder<unknown>
}

function branch(tier: Tier, where: RawBuilder<unknown>, { span, order }: BranchSpan) {
  const { above, below } = span.bounds[tier]
  return sql`(
    SELECT ${sql.lit(tier)} AS tier, val_id FROM documents
    WHERE ${where} AND val_id > ${above} AND val_id < ${below}
    ORDER BY val_id ${order} LIMIT ${span.limit + span.offset})`
}
