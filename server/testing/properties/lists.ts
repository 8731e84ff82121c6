import assert from 'node:assert/strict'
import type { Comment } from '@valley/contract/comments.ts'
import type { Run } from '@valley/contract/runs.ts'
import type { BasicVal, Val } from '@valley/contract/vals.ts'
import type { Version } from '@valley/contract/versions.ts'
import { newId } from '@valley/server/database/ids.ts'
import type { TestServer, TestUser } from '../open-test-server.ts'
import { call, type Request } from './call.ts'

/** A list that can be read and, meanwhile, be added to and taken from. */
export interface OpenList {
  readonly path: string
  readonly reader: TestUser
  readonly keyOf: (item: object) => string
  add(): Promise<string>
  remove(key: string): Promise<void>
}

interface Surroundings {
  readonly server: TestServer
  readonly newUser: () => Promise<TestUser>
}

type Open = (surroundings: Surroundings) => Promise<OpenList>

const openVals: Open = async ({ server, newUser }) => {
  const reader = await newUser()
  return {
    path: '/v1/me/vals',
    reader,
    keyOf: (item) => (item as BasicVal).id,
    add: async () => (await addVal(server, reader)).id,
    remove: (id) => send(server, { method: 'DELETE', to: `/v1/vals/${id}`, as: reader }),
  }
}

const openVersions: Open = async ({ server, newUser }) => {
  const reader = await newUser()
  const { id } = await addVal(server, reader)
  const to = `/v1/vals/${id}/versions`
  return {
    path: to,
    reader,
    keyOf: (item) => String((item as Version).version),
    add: async () => {
      const saved = await send<Val>(server, { method: 'POST', to, as: reader, body: { code: newCode() } })
      return String(saved.version)
    },
    remove: (version) => send(server, { method: 'DELETE', to: `${to}/${version}`, as: reader }),
  }
}

const openComments: Open = async ({ server, newUser }) => {
  const [owner, reader] = await Promise.all([newUser(), newUser()])
  const { id } = await addVal(server, owner)
  const to = `/v1/vals/${id}/comments`
  return {
    path: to,
    reader,
    keyOf: (item) => (item as Comment).id,
    add: async () =>
      (await send<Comment>(server, { method: 'POST', to, as: reader, body: { comment: 'So?' } })).id,
    remove: (comment) => send(server, { method: 'DELETE', to: `/v1/comments/${comment}`, as: owner }),
  }
}

const openLikes: Open = async ({ server, newUser }) => {
  const [owner, reader] = await Promise.all([newUser(), newUser()])
  return {
    path: '/v1/me/likes',
    reader,
    keyOf: (item) => (item as BasicVal).id,
    add: async () => {
      const { id } = await addVal(server, owner)
      await send(server, { method: 'PUT', to: `/v1/me/likes/${id}`, as: reader })
      return id
    },
    remove: (id) => send(server, { method: 'DELETE', to: `/v1/me/likes/${id}`, as: reader }),
  }
}

/** Runs are not made through the API yet: they are written as the recorder will write them. */
const openRuns: Open = async ({ server, newUser }) => {
  const reader = await newUser()
  const { id: val_id } = await addVal(server, reader)
  const run = { owner_id: reader.id, val_id, version: 1, source: 'http', status: 'succeeded' } as const
  return {
    path: '/v1/me/runs',
    reader,
    keyOf: (item) => (item as Run).id,
    add: async () => {
      const id = newId()
      await server.db
        .insertInto('runs')
        .values({ id, ...run })
        .execute()
      return id
    },
    remove: async (id) => {
      await server.db.deleteFrom('runs').where('id', '=', id).execute()
    },
  }
}

export const lists = {
  vals: openVals,
  versions: openVersions,
  comments: openComments,
  likes: openLikes,
  runs: openRuns,
} as const

let codes = 0

function newCode(): string {
  codes += 1
  return `export default ${codes}`
}

function addVal(server: TestServer, owner: TestUser): Promise<Val> {
  return send<Val>(server, { method: 'POST', to: '/v1/vals', as: owner, body: { code: newCode() } })
}

async function send<Body = void>(server: TestServer, request: Request): Promise<Body> {
  const { status, body } = await call(server, request)
  assert.ok(status < 300, `${request.method} ${request.to} answered ${status}`)
  return body as Body
}
