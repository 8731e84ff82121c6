import assert from 'node:assert/strict'
import type { Val } from '@valley/contract/vals.ts'
import type { Answer } from './call.ts'
import {
  addVal,
  choose,
  chooseVersion,
  currentVersion,
  type Fields,
  findByName,
  type Model,
  type ModelVal,
  refusal,
  removeVal,
  save,
} from './model.ts'
import { assertShows } from './reads.ts'
import { callAs, type Real, type Run } from './real.ts'

interface ByUser {
  readonly user: number
  readonly fields: Fields & { readonly name: string }
}

interface OnVal {
  readonly user: number
  readonly val: number
}

export const create: Run<ByUser> = async (model, real, { user, fields }) => {
  const taken = findByName(model, user, fields.name) !== undefined
  const answer = await callAs(real, user, { method: 'POST', to: '/v1/vals', body: fields })
  assert.equal(answer.status, taken ? 409 : 201)
  if (!taken) assertShows(model, addVal(model, { id: (answer.body as Val).id, owner: user }, fields), answer)
}

export const put: Run<ByUser> = async (model, real, { user, fields }) => {
  const existing = findByName(model, user, fields.name)
  const answer = await callAs(real, user, { method: 'PUT', to: '/v1/vals', body: fields })
  assert.equal(answer.status, existing ? 200 : 201)
  const { name: _, ...rest } = fields
  if (existing) save(existing, rest)
  const val = existing ?? addVal(model, { id: (answer.body as Val).id, owner: user }, fields)
  assertShows(model, val, answer)
}

export const putTwice: Run<ByUser> = async (model, real, input) => {
  await put(model, real, input)
  const before = await readOwn(model, real, input)
  await put(model, real, input)
  assert.deepEqual(await readOwn(model, real, input), before)
}

export const postVersion: Run<OnVal & { readonly fields: Fields }> = async (model, real, input) => {
  const { val, actor } = choose(model, input)
  const to = `/v1/vals/${val.id}/versions`
  const answer = await callAs(real, actor, { method: 'POST', to, body: input.fields })
  const refused = refusal(val, actor) ?? conflict(model, val, input.fields)
  if (refused !== null) return assert.equal(answer.status, refused)
  const isVersion = save(val, input.fields)
  assert.equal(answer.status, isVersion ? 201 : 200)
  return assertShows(model, val, answer)
}

export const update: Run<OnVal & { readonly fields: Fields }> = async (model, real, input) => {
  const { val, actor } = choose(model, input)
  const answer = await callAs(real, actor, { method: 'PUT', to: `/v1/vals/${val.id}`, body: input.fields })
  const refused = refusal(val, actor) ?? conflict(model, val, input.fields)
  assert.equal(answer.status, refused ?? 204)
  if (refused !== null) return
  save(val, input.fields)
  assertShows(model, val, await callAs(real, actor, { method: 'GET', to: `/v1/vals/${val.id}` }))
}

export const deleteVersion: Run<OnVal & { readonly back: number }> = async (model, real, input) => {
  const { val, actor } = choose(model, input)
  const version = chooseVersion(val, input.back)
  const answer = await callAs(real, actor, { method: 'DELETE', to: `/v1/vals/${val.id}/versions/${version}` })
  const refused = refusal(val, actor) ?? (val.versions.has(version) ? lastVersion(val) : 404)
  assert.equal(answer.status, refused ?? 204)
  if (refused !== null) return
  val.versions.delete(version)
  assertShows(model, val, await callAs(real, actor, { method: 'GET', to: `/v1/vals/${val.id}` }))
}

export const deleteVal: Run<OnVal> = async (model, real, input) => {
  const { val, actor } = choose(model, input)
  const refused = refusal(val, actor)
  const answer = await callAs(real, actor, { method: 'DELETE', to: `/v1/vals/${val.id}` })
  assert.equal(answer.status, refused ?? 204)
  if (refused === null) removeVal(model, val)
}

export const like: Run<OnVal & { readonly likes: boolean }> = async (
  model,
  real,
  { user, val: drawn, likes },
) => {
  const { val } = choose(model, { user, val: drawn })
  const known = model.users.get(user)?.likes
  assert.ok(known)
  const method = likes ? 'PUT' : 'DELETE'
  const answer = await callAs(real, user, { method, to: `/v1/me/likes/${val.id}` })
  const hidden = refusal(val, user) === 404 && (likes || !known.has(val))
  assert.equal(answer.status, hidden ? 404 : 204)
  if (hidden) return
  if (likes) known.add(val)
  else known.delete(val)
}

function conflict(model: Model, val: ModelVal, { name }: Fields): 409 | null {
  const holder = name === undefined ? undefined : findByName(model, val.owner, name)
  return holder === undefined || holder === val ? null : 409
}

function lastVersion({ versions }: ModelVal): 409 | null {
  return versions.size === 1 ? 409 : null
}

async function readOwn(model: Model, real: Real, { user, fields }: ByUser): Promise<Answer> {
  const val = findByName(model, user, fields.name)
  assert.ok(val)
  const answer = await callAs(real, user, { method: 'GET', to: `/v1/vals/${val.id}` })
  assert.equal((answer.body as Val).version, currentVersion(val))
  return answer
}
