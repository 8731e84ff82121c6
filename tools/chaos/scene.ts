import type { RunDetails } from '@valley/contract/runs.ts'
import { openDatabase } from '@valley/server/database/open-database.ts'
import { createUserWithToken } from '../users/create-user-with-token.ts'
import { codeOf, thrownOnPurpose, type ValKind, valKinds } from './val-code.ts'

const ownerCount = 2
const schedulesPerOwner = 10
/** As long as the API waits for a run. */
const firstRunSeconds = 60

export interface Owner {
  readonly token: string
  readonly vals: Readonly<Record<ValKind, string>>
}

export interface PlannedVal {
  readonly valId: string
  readonly token: string
  /** The first time at which it shall run. */
  readonly firstAt: Date
}

export interface Scene {
  /** Runs from before the load. */
  readonly firstRuns: number
  readonly owners: readonly Owner[]
  readonly planned: readonly PlannedVal[]
}

interface Place {
  readonly databaseUrl: string
  /** Of a server. */
  readonly url: string
  readonly counterUrl: string
}

/** Owners with a val of each kind, and vals that run every second by themselves. */
export async function setScene(place: Place): Promise<Scene> {
  await using database = openDatabase({
    url: place.databaseUrl,
    connectionsMax: 1,
    onIdleError: () => undefined,
  })
  const owners: Owner[] = []
  const planned: PlannedVal[] = []
  for (let number = 1; number <= ownerCount; number++) {
    const token = await createUserWithToken(database.db, `owner${number}`)
    const ids: [ValKind, string][] = []
    for (const kind of valKinds) ids.push([kind, await createVal(place, token, { name: kind, kind })])
    for (const [, valId] of ids) await runOnce(place.url, valId, token)
    owners.push({ token, vals: Object.fromEntries(ids) as Record<ValKind, string> })
    for (let count = 0; count < schedulesPerOwner; count++) {
      const name = `planned${count}`
      const valId = await createVal(place, token, { name, kind: 'scheduled' })
      const missed = count % 2 === 0 ? 'skip' : 'once'
      planned.push({ valId, token, firstAt: await planEverySecond(place.url, { valId, token, missed }) })
    }
  }
  return { owners, planned, firstRuns: ownerCount * valKinds.length }
}

async function createVal(
  { url, counterUrl }: Place,
  token: string,
  { name, kind }: { readonly name: string; readonly kind: ValKind | 'scheduled' },
): Promise<string> {
  const body = { name, code: codeOf(kind, counterUrl) }
  return (await send<{ id: string }>(`${url}/v1/vals`, { method: 'POST', token, body })).id
}

/** Once before it counts, so that the load does not begin with vals that nobody has ever run. */
async function runOnce(url: string, valId: string, token: string): Promise<void> {
  const path = `${url}/v1/vals/${valId}/runs?wait=${firstRunSeconds}`
  const { status, error } = await send<RunDetails>(path, { method: 'POST', token, body: { args: [0, 0] } })
  if (status === 'succeeded' || error?.message === thrownOnPurpose) return
  throw new Error(`The first run of a val is ${status}: ${JSON.stringify(error)}`)
}

async function planEverySecond(
  url: string,
  { valId, token, missed }: { readonly valId: string; readonly token: string; readonly missed: string },
): Promise<Date> {
  const body = { cron: '* * * * * *', overlap: 'queue', missed }
  const path = `${url}/v1/vals/${valId}/schedule`
  const { nextRunAt } = await send<{ nextRunAt: string }>(path, { method: 'PUT', token, body })
  return new Date(nextRunAt)
}

interface Sent {
  readonly method: string
  readonly token: string
  readonly body: object
}

async function send<Answer>(url: string, { method, token, body }: Sent): Promise<Answer> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const response = await fetch(url, { method, headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${method} ${url} answered ${response.status}: ${await response.text()}`)
  return (await response.json()) as Answer
}
