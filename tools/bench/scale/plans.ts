import type pg from 'pg'
import { openClient } from '../open-client.ts'
import { sessionOptions } from '@valley/server/database/open-database.ts'
import { build } from '@valley/server/database/statement.ts'
import { highestId, lowestId } from '@valley/server/database/ids.ts'
import * as comments from '@valley/server/comments/queries.ts'
import { selectLikedVals } from '@valley/server/likes/queries.ts'
import { selectReferencesTo } from '@valley/server/references/queries.ts'
import { selectRuns } from '@valley/server/runs/queries.ts'
import { readQuery, searchSpan } from '@valley/server/search/handlers.ts'
import { searchQuery } from '@valley/server/search/queries.ts'
import { selectTokens } from '@valley/server/tokens/queries.ts'
import { selectPublicValsOfOwner, selectValsOfOwner } from '@valley/server/vals/queries.ts'
import { selectVersions } from '@valley/server/versions/queries.ts'

interface Query {
  readonly text: string
  readonly values: readonly unknown[]
}

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Actual Rows'?: number
  readonly Plans?: readonly PlanNode[]
}

const pageRows = 21
/** Search sorts a page from each of its four branches. */
const sortedRowsMax = pageRows * 4
const scannedRowsMax = 200

/** What is wrong with the plans of the lists: a table read whole, or a sort of more than a page. */
export async function findBadPlans(
  url: string,
  { me, val }: { me: string; val: string },
): Promise<readonly string[]> {
  await using client = await openClient(url, sessionOptions())
  const bad: string[] = []
  for (const [name, query] of Object.entries(listQueries(me, val))) {
    const modes = name.startsWith('search')
      ? ['force_custom_plan']
      : ['force_generic_plan', 'force_custom_plan']
    for (const mode of modes) {
      const plan = await explain(client, mode, query)
      bad.push(...problemsOf(plan).map((problem) => `${name} (${mode}): ${problem}`))
    }
  }
  return bad
}

function listQueries(me: string, val: string): Readonly<Record<string, Query>> {
  const span = { direction: 'older', above: lowestId, below: highestId, limit: pageRows, offset: 0 } as const
  const numbers = { ...span, above: 0, below: 2_147_483_647 }
  const ofMe = { owner_id: me, val_id: val, sources: [] }
  const runs = (ofOneVal: boolean, error: boolean | undefined) =>
    selectRuns({ ofOneVal, error, sources: 'any' }).toQuery(ofMe, span)
  const search = (text: string) => {
    const page = { limit: 20, offset: 0, cursor: undefined }
    const { sql, parameters } = searchQuery(
      { ...readQuery(text), ownerId: me },
      searchSpan({ query: page, target: '/v1/search/vals' }),
    ).compile(build)
    return { text: sql, values: parameters }
  }
  return {
    'me/runs': runs(false, undefined),
    'me/runs error=true': runs(false, true),
    'me/runs source=schedule': selectRuns({ ofOneVal: false, error: undefined, sources: 'notHttp' }).toQuery(
      { ...ofMe, sources: ['schedule'] },
      span,
    ),
    'vals/{id}/runs': runs(true, undefined),
    'vals/{id}/runs error=true': runs(true, true),
    'me/vals': selectValsOfOwner.toQuery({ owner_id: me }, span),
    'users/{id}/vals': selectPublicValsOfOwner.toQuery({ owner_id: me }, span),
    'vals/{id}/versions': selectVersions.toQuery({ owner_id: me, val_id: val }, numbers),
    'me/likes': selectLikedVals.toQuery({ user_id: me }, span),
    'me/comments any': comments.selectCommentsAny.toQuery({ user_id: me }, span),
    'me/comments given': comments.selectCommentsGiven.toQuery({ user_id: me }, span),
    'me/comments received': comments.selectCommentsReceived.toQuery({ user_id: me }, span),
    'vals/{id}/comments': comments.selectCommentsOfVal.toQuery({ val_id: val }, span),
    'me/references': selectReferencesTo.toQuery({ owner_id: me }, span),
    'me/tokens': selectTokens.toQuery({ owner_id: me }, span),
    'search, in half of all vals': search('fetchForecast'),
    'search, in one of a thousand': search('topic7'),
    'search, rare': search('needle77'),
    'search, part of a name': search('al_77'),
  }
}

async function explain(client: pg.Client, mode: string, { text, values }: Query): Promise<PlanNode> {
  await client.query(`SET plan_cache_mode = ${mode}`)
  await client.query(`PREPARE explained AS ${text}`)
  try {
    const literals = values.map((value) => literal(client, value))
    const call = literals.length === 0 ? 'explained' : `explained(${literals.join(', ')})`
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE ${call}`,
    )
    const [plan] = rows[0]?.['QUERY PLAN'] ?? []
    if (!plan) throw new Error('EXPLAIN gave no plan')
    return plan.Plan
  } finally {
    await client.query('DEALLOCATE explained')
  }
}

function literal(client: pg.Client, value: unknown): string {
  if (value === null) return 'NULL'
  if (typeof value === 'number') return String(value)
  return client.escapeLiteral(Array.isArray(value) ? `{${value.join(',')}}` : (value as string))
}

function problemsOf(node: PlanNode): readonly string[] {
  const { 'Node Type': type, 'Relation Name': relation, 'Actual Rows': rows = 0, Plans = [] } = node
  const input = Math.max(0, ...Plans.map((plan) => plan['Actual Rows'] ?? 0))
  return [
    ...(type === 'Seq Scan' && rows > scannedRowsMax ? [`reads all of ${relation} (${rows} rows)`] : []),
    ...(type.includes('Sort') && input > sortedRowsMax ? [`sorts ${input} rows`] : []),
    ...Plans.flatMap(problemsOf),
  ]
}
