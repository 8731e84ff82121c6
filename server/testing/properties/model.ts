import type { Privacy } from '@valley/contract/vals.ts'

/** What the API promises of vals, in its plainest form: a few maps, and no thought of speed or concurrency. */
export interface Model {
  readonly users: Map<number, ModelUser>
  /** Every val that exists, the oldest first. */
  readonly vals: ModelVal[]
}

export interface ModelUser {
  readonly likes: Set<ModelVal>
}

export interface ModelVal {
  readonly id: string
  readonly owner: number
  name: string
  privacy: Privacy
  /** The code of each version that remains. */
  readonly versions: Map<number, string>
  lastVersion: number
}

export interface Fields {
  readonly name?: string
  readonly privacy?: Privacy
  readonly code?: string
}

export function emptyModel(userCount: number): Model {
  return {
    users: new Map(Array.from({ length: userCount }, (_, user) => [user, { likes: new Set() }])),
    vals: [],
  }
}

export function findByName({ vals }: Model, owner: number, name: string): ModelVal | undefined {
  return vals.find((val) => val.owner === owner && val.name.toLowerCase() === name.toLowerCase())
}

export function addVal(
  { vals }: Model,
  { id, owner }: { id: string; owner: number },
  fields: Fields,
): ModelVal {
  const val: ModelVal = {
    id,
    owner,
    name: fields.name ?? '',
    privacy: fields.privacy ?? 'public',
    versions: new Map([[1, fields.code ?? '']]),
    lastVersion: 1,
  }
  vals.push(val)
  return val
}

/** What a save does to a val. Returns whether it made a version. */
export function save(val: ModelVal, { name, privacy, code }: Fields): boolean {
  const isVersion = code !== undefined && code !== currentCode(val)
  val.name = name ?? val.name
  val.privacy = privacy ?? val.privacy
  if (!isVersion) return false
  val.lastVersion += 1
  val.versions.set(val.lastVersion, code)
  return true
}

export function removeVal({ vals, users }: Model, val: ModelVal): void {
  vals.splice(vals.indexOf(val), 1)
  for (const { likes } of users.values()) likes.delete(val)
}

/** The newest that remains. */
export function currentVersion({ versions }: ModelVal): number {
  return Math.max(...versions.keys())
}

export function currentCode(val: ModelVal): string {
  return val.versions.get(currentVersion(val)) ?? ''
}

export function likeCount({ users }: Model, val: ModelVal): number {
  return [...users.values()].filter(({ likes }) => likes.has(val)).length
}

/** What someone who is not the owner is told: nothing of a private val, no entry to any other. */
export function refusal(val: ModelVal, user: number): 403 | 404 | null {
  if (val.owner === user) return null
  return val.privacy === 'private' ? 404 : 403
}

/** A val by a number that was drawn without knowing how many there are, and who asks: often its owner. */
export function choose({ vals }: Model, { user, val: drawn }: { user: number; val: number }) {
  const val = vals[drawn % vals.length]
  if (val === undefined) throw new Error('There is no val yet.')
  return { val, actor: drawn % 3 === 0 ? user : val.owner }
}

/** A number of the val's that was given lately, or one that never was. */
export function chooseVersion({ lastVersion }: ModelVal, back: number): number {
  return lastVersion > back ? lastVersion - back : lastVersion + back
}
