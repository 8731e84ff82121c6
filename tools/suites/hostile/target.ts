import { operations, type OperationName } from '@valley/contract/operations.ts'
import type { Operation } from '@valley/contract/operation.ts'

/** What the attacked server holds, so that requests get past the first check and reach the database. */
export interface Target {
  readonly url: string
  readonly pid: number
  readonly token: string
  /** Ids by the name of the parameter that takes them: the attacker's own things. */
  readonly own: Readonly<Record<string, string>>
  /** The same of somebody else, for deletions: they must be refused, so that every row can be accounted for. */
  readonly foreign: Readonly<Record<string, string>>
  /** Cursors of real lists. */
  readonly cursors: readonly string[]
}

/** A large one is made only when it is sent. */
export type Body = Buffer | (() => Buffer) | null

export interface HostileRequest {
  readonly family: string
  /** null where the path or method was changed so that it may be another's. */
  readonly operation: OperationName | null
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly body: Body
  /** Sent in chunks, without a length. */
  readonly isChunked?: boolean
}

/** A request that would be answered well; each family spoils one part of it. */
export interface Draft {
  readonly operation: OperationName
  readonly params: Readonly<Record<string, string>>
  readonly query: string
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly body: Body
}

export const operationNames = Object.keys(operations) as OperationName[]

export function operationOf(name: OperationName): Operation {
  return operations[name]
}

export function bytesOf(body: Body): Buffer | null {
  return typeof body === 'function' ? body() : body
}

export function draftOf(target: Target, name: OperationName): Draft {
  const { method, query, exampleBody } = operationOf(name)
  return {
    operation: name,
    params: method === 'DELETE' ? target.foreign : target.own,
    query: query !== undefined && 'query' in query.shape ? '?query=hello' : '',
    headers: {
      authorization: `Bearer ${target.token}`,
      ...(exampleBody && { 'content-type': 'application/json' }),
    },
    body: exampleBody ? Buffer.from(JSON.stringify(exampleBody)) : null,
  }
}

export function render(family: string, { operation, params, query, headers, body }: Draft): HostileRequest {
  const { method, path } = operationOf(operation)
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] ?? 'missing')
  return { family, operation, method, path: filled + query, headers, body }
}

export function paramsOf(name: OperationName): readonly string[] {
  return Object.keys(operationOf(name).params?.shape ?? {})
}

export function queryKeysOf(name: OperationName): readonly string[] {
  return Object.keys(operationOf(name).query?.shape ?? {})
}

export function bodyKeysOf(name: OperationName): readonly string[] {
  return Object.keys(operationOf(name).body?.shape ?? {})
}

export const withParams = operationNames.filter((name) => paramsOf(name).length > 0)
export const withQuery = operationNames.filter((name) => queryKeysOf(name).length > 0)
export const withBody = operationNames.filter((name) => bodyKeysOf(name).length > 0)
export const withCursor = withQuery.filter((name) => queryKeysOf(name).includes('cursor'))
