import assert from 'node:assert/strict'
import type { TestServer, TestUser } from '../open-test-server.ts'
import { call, type Answer, type Request } from './call.ts'
import type { Model } from './model.ts'

/** The server that is held against the model, and who calls it. */
export interface Real {
  readonly server: TestServer
  readonly users: readonly TestUser[]
}

export type Run<Input> = (model: Model, real: Real, input: Input) => Promise<void>

export function callAs(real: Real, user: number, request: Omit<Request, 'as'>): Promise<Answer> {
  return call(real.server, { ...request, as: userOf(real, user) })
}

export function userOf({ users }: Real, index: number): TestUser {
  const found = users[index]
  assert.ok(found)
  return found
}
