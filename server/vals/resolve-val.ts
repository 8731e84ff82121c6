import type { Head, ReplyBody } from '@valley/bus/requests.ts'
import { parseLabelOrNull } from '@valley/contract/endpoint.ts'
import type { Db } from '../database/statement.ts'
import type { EnvironmentKeys } from '../env/keys.ts'
import { type Environment, openEnvironment } from '../env/open-environment.ts'
import type { Observations } from '../observations.ts'
import { resolveById, resolveByName, type ResolvedVal } from './resolve-queries.ts'

interface Resolver {
  readonly db: Db
  readonly environmentKeys: EnvironmentKeys
  readonly runsPerDayMax: number | null
  readonly observe: Pick<Observations, 'environmentUnreadable'>
}

/** Which val answers under a label, with all that a runner has to know of it. */
export async function resolveVal(
  { db, environmentKeys, runsPerDayMax, observe }: Resolver,
  label: string,
): Promise<ReplyBody<'resolveVal'>> {
  const val = await findLabelledValOrNull(db, label)
  if (val === null) return { kind: 'missing' }
  const environment = openEnvironment(environmentKeys, val.owner_id, val.variables)
  if (environment.unreadable.length > 0) {
    // Without one of its secrets a val may do harm, such as letting everyone in; so it does not run at all.
    observe.environmentUnreadable(val.id, environment.unreadable)
    return { kind: 'unavailable' }
  }
  const isOverQuota = runsPerDayMax !== null && val.runs_today >= runsPerDayMax
  return { kind: 'found', head: { ...headOf(val, environment), isOverQuota } }
}

async function findLabelledValOrNull(db: Db, label: string): Promise<ResolvedVal | null> {
  const by = parseLabelOrNull(label)
  if (by === null) return null
  const { rows } =
    by.kind === 'id'
      ? await resolveById(db, { id: by.id })
      : await resolveByName(db, { username: by.username, name: by.name })
  return rows[0] ?? null
}

function headOf(val: ResolvedVal, { values, revision }: Environment): Omit<Head, 'isOverQuota'> {
  return {
    valId: val.id,
    ownerId: val.owner_id,
    username: val.username,
    name: val.name,
    privacy: val.privacy,
    type: val.type,
    version: val.version,
    code: val.code,
    environmentRevision: revision,
    environment: values,
  }
}
