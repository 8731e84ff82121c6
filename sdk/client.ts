import type { Fetch } from './attempt.ts'
import { limits } from './limits.ts'
import { meMethods } from './me.ts'
import { type Method, methodsOver } from './methods.ts'
import type { ApiOperation, QueryFor } from './operation-types.ts'
import type { Settings } from './outgoing.ts'
import { createRequest } from './request.ts'
import { userMethods } from './users.ts'
import { valMethods } from './vals.ts'

// The package's front door: what a program needs besides the client comes from the same import.
export { etagOf } from './etags.ts'
export type { List, Page } from './list.ts'
export { type Issue, isValleyError, ValleyError, type ValleyErrorCode } from './valley-error.ts'
export type { Alerts, SetAlerts } from '@valley/contract/alerts.ts'
export type { Comment } from '@valley/contract/comments.ts'
export type { Variable } from '@valley/contract/env.ts'
export type { Reference } from '@valley/contract/references.ts'
export type { Retry, Run, RunDetails } from '@valley/contract/runs.ts'
export type { Scope } from '@valley/contract/scopes.ts'
export type { NewToken, Token } from '@valley/contract/tokens.ts'
export type { Usage } from '@valley/contract/usage.ts'
export type { Me, User } from '@valley/contract/users.ts'
export type { BasicVal, Privacy, Val, ValType } from '@valley/contract/vals.ts'
export type { Version } from '@valley/contract/versions.ts'

export interface ClientOptions {
  /** Where the service answers, such as `https://valley.example`. A path in front of `/v1` may be part of it. */
  readonly baseUrl: string | URL
  /** A token that starts with `vly_`. Without one, what everyone may see can be read. */
  readonly token?: string | undefined
  /** Takes the place of the platform's fetch. */
  readonly fetch?: Fetch | undefined
  /** How long each attempt of a call may take; 30 seconds unless told. */
  readonly timeoutMs?: number | undefined
  /** How often a failed attempt is repeated where that is safe; 2 unless told, 0 for never. */
  readonly retriesMax?: number | undefined
}

export type Client = ReturnType<typeof createClient>

/** A client of the Valley API. It holds no connection and needs no closing. */
export function createClient(options: ClientOptions) {
  const settings = settingsFrom(options)
  const request = createRequest(settings)
  const methods = methodsOver(request, settings)
  const { call, list } = methods
  return {
    vals: valMethods(methods),
    me: meMethods(methods),
    users: userMethods(methods),
    comments: {
      /** Changes a comment of yours. */
      update: call('updateComment', (commentId: string, comment: string) => ({
        params: { comment_id: commentId },
        body: { comment },
      })),
      /** Deletes a comment that you wrote, or that is on a val of yours. */
      delete: call('deleteComment', (commentId: string) => ({ params: { comment_id: commentId } })),
    },
    search: {
      /** Searches the names, readmes and code of public vals and of your own. */
      vals: list('searchVals', (query: string, page?: Omit<QueryFor<'searchVals'>, 'query'>) => ({
        query: { ...page, query },
      })),
    },
    runs: {
      /** Gets a run of a val of yours, with what it printed. */
      get: call('getRun', (runId: string) => ({ params: { run_id: runId } })),
      /** Cancels a run that waits or runs. */
      cancel: call('cancelRun', (runId: string) => ({ params: { run_id: runId } })),
    },
    /** Any operation by its name, with the status and headers of the answer; `ifNoneMatch` makes a 304 possible. */
    request,
  }
}

/** The compiler stops here, and names the operation, when one of the contract has no method. */
export type OperationsWithoutMethod = Nothing<Exclude<ApiOperation, OperationsIn<Client>>>

type Nothing<Missing extends never> = Missing

type OperationsIn<Tree> =
  Tree extends Method<infer N, never, unknown>
    ? N
    : Tree extends (...args: never) => unknown
      ? never
      : { [Key in keyof Tree]: OperationsIn<Tree[Key]> }[keyof Tree]

function settingsFrom(options: ClientOptions): Settings {
  return {
    baseUrl: webUrl(options.baseUrl),
    token: options.token,
    // Looked up at each call, so that a fetch that is replaced later is used.
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    timeoutMs: options.timeoutMs ?? limits.timeoutMsDefault,
    retriesMax: options.retriesMax ?? limits.retriesDefault,
  }
}

/** Without its scheme, `localhost:3000` would be taken for an address of the scheme `localhost`. */
function webUrl(baseUrl: string | URL): URL {
  const url = new URL(baseUrl)
  if (/^https?:$/.test(url.protocol)) return url
  throw new TypeError(`baseUrl must start with http:// or https://, which ${url.href} does not.`)
}
