import assert from 'node:assert/strict'
import { runSql } from '@valley/tools/services/run-sql.ts'
import type { Load } from './load.ts'
import type { Write } from './write.ts'

export interface Account {
  /** Acknowledged, but not there as it was acknowledged. */
  readonly missing: number
  /** There more than once, acknowledged or not. */
  readonly doubled: number
  /** Done, though its client was told nothing: the connection broke first. */
  readonly unanswered: number
}

interface Place {
  readonly url: string
  readonly token: string
  readonly databaseUrl: string
}

/** Looks for every write of a load, in the database and through the API. */
export async function audit(place: Place, load: Load, label: string): Promise<Account> {
  const stored = await readStored(place.databaseUrl, label)
  const shown = await readShown(place, load)
  const isMissing = ({ code, outcome }: Write) => {
    if (outcome.kind !== 'acknowledged') return false
    const where = `${outcome.valId}|${outcome.version}`
    return !stored.get(code)?.includes(where) || !shown.has(where)
  }
  return {
    missing: load.count(isMissing),
    doubled: load.count(({ code }) => (stored.get(code)?.length ?? 0) > 1),
    unanswered: load.count(({ code, outcome }) => outcome.kind === 'reset' && stored.has(code)),
  }
}

/** Where each code of the load is: `val|version`, as often as it is there. */
async function readStored(databaseUrl: string, label: string): Promise<Map<string, string[]>> {
  const lines = await runSql(
    databaseUrl,
    `SELECT n.val_id, n.version, c.code FROM versions n JOIN codes c ON c.hash = n.code_hash
     WHERE c.code LIKE 'export default ''${label} %'`,
  )
  const rows = lines.split('\n').map((line) => line.split('|'))
  const grouped = Map.groupBy(rows, ([, , code = '']) => code)
  return new Map(
    [...grouped].map(([code, found]) => [code, found.map(([val, version]) => `${val}|${version}`)]),
  )
}

/** Every version, as `val|version`, that the API lists of the vals that were written to. */
async function readShown({ url, token }: Place, { writes }: Load): Promise<Set<string>> {
  const written = writes.flatMap(({ outcome }) => (outcome.kind === 'acknowledged' ? [outcome] : []))
  const oneVersion = new Set(written.filter(({ version }) => version === 1).map(({ valId }) => valId))
  const many = new Set(written.filter(({ version }) => version > 1).map(({ valId }) => valId))
  const vals = await readList(`${url}/v1/me/vals?limit=100`, token)
  const current = vals
    .filter(({ id = '' }) => oneVersion.has(id))
    .map(({ id, version }) => `${id}|${version}`)
  const versions = await Promise.all(
    [...many].map(async (id) => readList(`${url}/v1/vals/${id}/versions?limit=100`, token)),
  )
  return new Set([...current, ...versions.flat().map(({ val_id, version }) => `${val_id}|${version}`)])
}

interface Item {
  readonly id?: string
  readonly val_id?: string
  readonly version: number
}

async function readList(first: string, token: string): Promise<readonly Item[]> {
  const items: Item[] = []
  for (let next: string | undefined = first; next !== undefined;) {
    const response: Response = await fetch(next, { headers: { authorization: `Bearer ${token}` } })
    assert.equal(response.status, 200)
    const page = (await response.json()) as { data: readonly Item[]; links: { next?: string } }
    items.push(...page.data)
    next = page.links.next
  }
  return items
}
