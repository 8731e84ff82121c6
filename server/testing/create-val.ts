import assert from 'node:assert/strict'
import type { Val, ValFields } from '@valley/contract/vals.ts'
import type { TestCaller } from './call-as.ts'

interface NewVal extends ValFields {
  readonly code?: string
}

/** Made through the API, with a code of its own where the test does not care. */
export async function createVal(caller: TestCaller, fields: NewVal = {}): Promise<Val> {
  const { status, body, text } = await caller.post<Val>('/v1/vals', { code: 'export default 1', ...fields })
  assert.equal(status, 201, text)
  return body
}

export async function saveCode(caller: TestCaller, { id }: Val, code: string): Promise<Val> {
  const { status, body, text } = await caller.post<Val>(`/v1/vals/${id}/versions`, { code })
  assert.equal(status, 201, text)
  return body
}

export async function readVal(caller: TestCaller, { id }: Val): Promise<Val> {
  const { status, body, text } = await caller.get<Val>(`/v1/vals/${id}`)
  assert.equal(status, 200, text)
  return body
}
