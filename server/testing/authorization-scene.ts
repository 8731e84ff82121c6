import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { Comment } from '@valley/contract/comments.ts'
import type { Operation } from '@valley/contract/operation.ts'
import { operations, type OperationName } from '@valley/contract/operations.ts'
import { scopes } from '@valley/contract/scopes.ts'
import type { Val } from '@valley/contract/vals.ts'
import { newTokenText } from '../tokens/token-text.ts'
import { type Cell, type Credential, matrix, type Privacy } from './authorization-matrix.ts'
import { callAs, newCaller, type TestCaller } from './call-as.ts'
import { createVal, saveCode } from './create-val.ts'
import { insertReference, insertRun } from './insert-rows.ts'
import type { TestServer, TestUser } from './open-test-server.ts'

type Actor = TestCaller & { readonly user: TestUser }

/** The two users of an operation's cells, and a token of the owner's for each way in which one can be bad. */
export interface Actors {
  readonly owner: Actor
  readonly stranger: Actor
  readonly tokens: Readonly<Record<Credential, string | null>>
}

export async function openActors(server: TestServer, name: OperationName): Promise<Actors> {
  const owner = await newCaller(server, 'owner')
  const stranger = await newCaller(server, 'stranger')
  const { scope } = matrix[name]
  const expired = await server.issueToken(owner.user, { expiresAt: new Date(Date.now() - 1) })
  const lackingScope = await server.issueToken(owner.user, { scopes: scopes.filter((has) => has !== scope) })
  return {
    owner,
    stranger,
    tokens: {
      noToken: null,
      malformed: `${owner.user.token}x`,
      unknown: newTokenText(),
      expired: expired.token,
      revoked: await revokedToken(server, owner),
      lackingScope: lackingScope.token,
      stranger: stranger.user.token,
      owner: owner.user.token,
    },
  }
}

/** Used before it is revoked, so that the server has it in mind. */
async function revokedToken(server: TestServer, owner: Actor): Promise<string> {
  const { id, token } = await server.issueToken(owner.user)
  assert.equal((await callAs(server, token).get('/v1/me')).status, 200)
  assert.equal((await owner.delete(`/v1/me/tokens/${id}`)).status, 204)
  return token
}

/** What a request can be about: all of it the owner's. */
export interface Scene {
  readonly val: Val
  readonly runId: string
  readonly commentId: string
  readonly tokenId: string
}

const variableName = 'SCENE_KEY'

export async function setScene(
  server: TestServer,
  { owner, stranger }: Actors,
  privacy: Privacy,
): Promise<Scene> {
  const val = await createVal(owner, { name: `val_${randomBytes(6).toString('hex')}` })
  const current = await saveCode(owner, val, 'export default 2')
  const { body: comment } = await owner.post<Comment>(`/v1/vals/${val.id}/comments`, { comment: 'Mine.' })
  const strangers = await createVal(stranger)
  const [runId] = await Promise.all([
    insertRun(server, current),
    stranger.post(`/v1/vals/${val.id}/comments`, { comment: 'Not mine.' }),
    stranger.put(`/v1/me/likes/${val.id}`),
    owner.put(`/v1/me/env/${variableName}`, { value: 'secret' }),
    owner.put(`/v1/vals/${val.id}/env/${variableName}`, { value: 'secret' }),
    owner.put(`/v1/vals/${val.id}/schedule`, { cron: '@yearly' }),
    owner.put(`/v1/vals/${val.id}/alerts`, { url: 'https://hooks.example.com' }),
    insertReference(server, { importer: current, imported: strangers }),
  ])
  assert.equal((await owner.put(`/v1/vals/${val.id}`, { privacy })).status, 204)
  return { val, runId, commentId: comment.id, tokenId: (await server.issueToken(owner.user)).id }
}

/** Sends the request of a cell and tells what came of it, in the words of the matrix. */
export async function tryCell(
  server: TestServer,
  name: OperationName,
  { cell, actors, scene }: { readonly cell: Cell; readonly actors: Actors; readonly scene: Scene },
): Promise<string> {
  const operation: Operation = operations[name]
  const body = bodyOf(name, operation, scene)
  const { status, body: answer } = await callAs(server, actors.tokens[cell.credential]).send<{
    readonly code?: string
    readonly data?: unknown
  }>(operation.method, pathOf(operation, actors, scene), body && { body })
  if (status >= 400) return `${status} ${answer.code}`
  const isAboutPresence = cell.expected.endsWith('shown') || cell.expected.endsWith('hidden')
  if (!isAboutPresence) return String(status)
  return `${status} ${JSON.stringify(answer.data).includes(markOf(name, scene)) ? 'shown' : 'hidden'}`
}

/** What tells that a list shows the scene. */
function markOf(name: OperationName, { val, tokenId }: Scene): string {
  if (name === 'listMyTokens') return tokenId
  return name === 'listMyVariables' || name === 'listValVariables' ? variableName : val.id
}

function bodyOf(name: OperationName, { body, exampleBody }: Operation, { val }: Scene) {
  if (!body) return undefined
  const isNamed = name === 'createVal' || name === 'putVal'
  return { ...exampleBody, ...(isNamed && { name: val.name }) }
}

function pathOf({ path, query }: Operation, { owner }: Actors, scene: Scene): string {
  const { val, runId, commentId, tokenId } = scene
  const params: Readonly<Record<string, string>> = {
    val_id: val.id,
    val_name: val.name,
    version: '1',
    run_id: runId,
    user_id: owner.user.id,
    username: owner.user.username,
    comment_id: commentId,
    token_id: tokenId,
    name: variableName,
  }
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, param: string) => params[param] ?? `{${param}}`)
  return query && 'query' in query.shape ? `${filled}?query=${val.name}` : filled
}
