import assert from 'node:assert/strict'
import type { BasicVal, Val } from '@valley/contract/vals.ts'
import type { Version } from '@valley/contract/versions.ts'
import type { Answer } from './call.ts'
import {
  choose,
  chooseVersion,
  currentCode,
  currentVersion,
  findByName,
  likeCount,
  type Model,
  type ModelVal,
} from './model.ts'
import { callAs, type Run, userOf } from './real.ts'

interface OnVal {
  readonly user: number
  readonly val: number
}

export const get: Run<OnVal> = async (model, real, input) => {
  const { val, actor } = choose(model, input)
  const answer = await callAs(real, actor, { method: 'GET', to: `/v1/vals/${val.id}` })
  if (isHidden(val, actor)) return assert.equal(answer.status, 404)
  assert.equal(answer.status, 200)
  return assertShows(model, val, answer)
}

export const getByName: Run<{ user: number; owner: number; name: string }> = async (model, real, input) => {
  const { user, owner, name } = input
  const val = findByName(model, owner, name)
  const to = `/v1/alias/${userOf(real, owner).username}/${name}`
  const answer = await callAs(real, user, { method: 'GET', to })
  const isSeen = val !== undefined && (val.owner === user || val.privacy === 'public')
  if (!isSeen) return assert.equal(answer.status, 404)
  assert.equal(answer.status, 200)
  return assertShows(model, val, answer)
}

export const getVersion: Run<OnVal & { back: number }> = async (model, real, input) => {
  const { val, actor } = choose(model, input)
  const version = chooseVersion(val, input.back)
  const to = `/v1/vals/${val.id}/versions/${version}`
  const answer = await callAs(real, actor, { method: 'GET', to })
  const code = isHidden(val, actor) ? undefined : val.versions.get(version)
  if (code === undefined) return assert.equal(answer.status, 404)
  assert.equal(answer.status, 200)
  const shown = answer.body as Val
  return assert.deepEqual([shown.version, shown.code], [version, code])
}

export const listVersions: Run<OnVal> = async (model, real, input) => {
  const { val, actor } = choose(model, input)
  const to = `/v1/vals/${val.id}/versions?limit=100`
  const answer = await callAs(real, actor, { method: 'GET', to })
  if (isHidden(val, actor)) return assert.equal(answer.status, 404)
  assert.equal(answer.status, 200)
  const shown = (answer.body as { data: readonly Version[] }).data.map(({ version }) => version)
  return assert.deepEqual(
    shown,
    [...val.versions.keys()].toSorted((a, b) => b - a),
  )
}

export const listVals: Run<{ user: number; owner: number }> = async (model, real, { user, owner }) => {
  const to = `/v1/users/${userOf(real, owner).id}/vals?limit=100`
  const answer = await callAs(real, user, { method: 'GET', to })
  assert.equal(answer.status, 200)
  const expected = model.vals.filter(
    (val) => val.owner === owner && (user === owner || val.privacy === 'public'),
  )
  const shown = (answer.body as { data: readonly BasicVal[] }).data
  assert.deepEqual(
    shown.map(({ id, name, version, code }) => ({ id, name, version, code })),
    expected.toReversed().map((val) => ({
      id: val.id,
      name: val.name,
      version: currentVersion(val),
      code: currentCode(val),
    })),
  )
}

/** The answer is the val as the model knows it. */
export function assertShows(model: Model, val: ModelVal, { body }: Answer): void {
  const { id, name, privacy, version, code, likeCount: likes } = body as Val
  assert.deepEqual(
    { id, name, privacy, version, code, likes },
    {
      id: val.id,
      name: val.name,
      privacy: val.privacy,
      version: currentVersion(val),
      code: currentCode(val),
      likes: likeCount(model, val),
    },
  )
}

function isHidden(val: ModelVal, user: number): boolean {
  return val.privacy === 'private' && val.owner !== user
}
