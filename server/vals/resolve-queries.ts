import { type RawBuilder, sql } from 'kysely'
import type { Privacy, ValType } from '@valley/contract/vals.ts'
import { statement } from '../database/statement.ts'
import { today } from '../database/today.ts'
import type { SeenVariable } from '../env/open-environment.ts'

export interface ResolvedVal {
  readonly id: string
  readonly owner_id: string
  readonly username: string
  readonly name: string
  readonly privacy: Privacy
  readonly type: ValType
  readonly version: number
  readonly code: string
  readonly variables: readonly SeenVariable[]
  readonly runs_today: number
}

/** In two walks: for both holders at once, PostgreSQL would read the variables of all of the owner's vals. */
const variablesOfVal = sql`(
  SELECT * FROM variables WHERE owner_id = v.owner_id AND holder_id = v.owner_id
  UNION ALL SELECT * FROM variables WHERE owner_id = v.owner_id AND holder_id = v.id)`

/** Everything that a runner needs, as of one moment. */
function resolveStatement<Args extends object>(
  where: (arg: <Name extends keyof Args>(name: Name) => Args[Name]) => RawBuilder<unknown>,
) {
  return statement<Args, ResolvedVal>(
    (arg) => sql<ResolvedVal>`
      SELECT v.id, v.owner_id, u.username, v.name, v.privacy, v.type, v.version, c.code,
        (SELECT coalesce(json_agg(json_build_object('id', e.id, 'holder_id', e.holder_id, 'name', e.name,
            'key_id', e.key_id, 'sealed_base64', encode(e.sealed_value, 'base64'))), '[]')
          FROM ${variablesOfVal} e) AS variables,
        coalesce((SELECT runs FROM usage WHERE owner_id = v.owner_id AND day = ${today}), 0)::float8 AS runs_today
      FROM users u JOIN vals v ON v.owner_id = u.id JOIN codes c ON c.hash = v.code_hash
      WHERE ${where(arg)}`,
  )
}

export const resolveById = resolveStatement<{ id: string }>((arg) => sql`v.id = ${arg('id')}`)

/** By its name a val is only looked for by its endpoint. An unlisted val has to be known by its id: names can be guessed. */
export const resolveByName = resolveStatement<{ username: string; name: string }>(
  (arg) =>
    sql`u.username = ${arg('username')} AND lower(v.name) = ${arg('name')}
      AND v.privacy <> 'unlisted' AND v.type = 'http'`,
)
