import type { AnswerKindFor, ApiOperation, MethodFor, PathFor } from './operation-types.ts'

/**
 * Where each operation is found. Written out because the contract is imported as types only, so that none of its
 * code reaches a browser; the compiler compares every line with the contract and misses none.
 */
export const routes: Routes = {
  createVal: { method: 'POST', path: '/v1/vals', answer: 'json' },
  putVal: { method: 'PUT', path: '/v1/vals', answer: 'json' },
  getVal: { method: 'GET', path: '/v1/vals/{val_id}', answer: 'json' },
  getValByName: { method: 'GET', path: '/v1/alias/{username}/{val_name}', answer: 'json' },
  updateVal: { method: 'PUT', path: '/v1/vals/{val_id}', answer: 'json' },
  deleteVal: { method: 'DELETE', path: '/v1/vals/{val_id}', answer: 'json' },
  getModule: { method: 'GET', path: '/v1/vals/{val_id}/module', answer: 'text' },
  listMyVals: { method: 'GET', path: '/v1/me/vals', answer: 'json' },
  listUserVals: { method: 'GET', path: '/v1/users/{user_id}/vals', answer: 'json' },
  searchVals: { method: 'GET', path: '/v1/search/vals', answer: 'json' },

  listVersions: { method: 'GET', path: '/v1/vals/{val_id}/versions', answer: 'json' },
  createVersion: { method: 'POST', path: '/v1/vals/{val_id}/versions', answer: 'json' },
  getVersion: { method: 'GET', path: '/v1/vals/{val_id}/versions/{version}', answer: 'json' },
  deleteVersion: { method: 'DELETE', path: '/v1/vals/{val_id}/versions/{version}', answer: 'json' },

  listMyRuns: { method: 'GET', path: '/v1/me/runs', answer: 'json' },
  listValRuns: { method: 'GET', path: '/v1/vals/{val_id}/runs', answer: 'json' },
  getRun: { method: 'GET', path: '/v1/runs/{run_id}', answer: 'json' },
  runVal: { method: 'POST', path: '/v1/vals/{val_id}/runs', answer: 'json' },
  cancelRun: { method: 'POST', path: '/v1/runs/{run_id}/cancel', answer: 'json' },
  getRetry: { method: 'GET', path: '/v1/vals/{val_id}/retry', answer: 'json' },
  setRetry: { method: 'PUT', path: '/v1/vals/{val_id}/retry', answer: 'json' },
  tailVal: { method: 'GET', path: '/v1/vals/{val_id}/tail', answer: 'events' },

  listMyComments: { method: 'GET', path: '/v1/me/comments', answer: 'json' },
  listComments: { method: 'GET', path: '/v1/vals/{val_id}/comments', answer: 'json' },
  createComment: { method: 'POST', path: '/v1/vals/{val_id}/comments', answer: 'json' },
  updateComment: { method: 'PUT', path: '/v1/comments/{comment_id}', answer: 'json' },
  deleteComment: { method: 'DELETE', path: '/v1/comments/{comment_id}', answer: 'json' },

  listMyLikes: { method: 'GET', path: '/v1/me/likes', answer: 'json' },
  likeVal: { method: 'PUT', path: '/v1/me/likes/{val_id}', answer: 'json' },
  unlikeVal: { method: 'DELETE', path: '/v1/me/likes/{val_id}', answer: 'json' },

  listMyReferences: { method: 'GET', path: '/v1/me/references', answer: 'json' },

  getMe: { method: 'GET', path: '/v1/me', answer: 'json' },
  getMyUsage: { method: 'GET', path: '/v1/me/usage', answer: 'json' },
  updateMe: { method: 'PUT', path: '/v1/me', answer: 'json' },
  getUser: { method: 'GET', path: '/v1/users/{user_id}', answer: 'json' },
  getUserByName: { method: 'GET', path: '/v1/alias/{username}', answer: 'json' },

  listMyTokens: { method: 'GET', path: '/v1/me/tokens', answer: 'json' },
  createToken: { method: 'POST', path: '/v1/me/tokens', answer: 'json' },
  deleteToken: { method: 'DELETE', path: '/v1/me/tokens/{token_id}', answer: 'json' },

  getSchedule: { method: 'GET', path: '/v1/vals/{val_id}/schedule', answer: 'json' },
  setSchedule: { method: 'PUT', path: '/v1/vals/{val_id}/schedule', answer: 'json' },
  deleteSchedule: { method: 'DELETE', path: '/v1/vals/{val_id}/schedule', answer: 'json' },

  listMyVariables: { method: 'GET', path: '/v1/me/env', answer: 'json' },
  setMyVariable: { method: 'PUT', path: '/v1/me/env/{name}', answer: 'json' },
  deleteMyVariable: { method: 'DELETE', path: '/v1/me/env/{name}', answer: 'json' },
  listValVariables: { method: 'GET', path: '/v1/vals/{val_id}/env', answer: 'json' },
  setValVariable: { method: 'PUT', path: '/v1/vals/{val_id}/env/{name}', answer: 'json' },
  deleteValVariable: { method: 'DELETE', path: '/v1/vals/{val_id}/env/{name}', answer: 'json' },

  getAlerts: { method: 'GET', path: '/v1/vals/{val_id}/alerts', answer: 'json' },
  setAlerts: { method: 'PUT', path: '/v1/vals/{val_id}/alerts', answer: 'json' },
  deleteAlerts: { method: 'DELETE', path: '/v1/vals/{val_id}/alerts', answer: 'json' },
}

/** One operation's place. */
export type Route = Routes[ApiOperation]

type Routes = {
  readonly [N in ApiOperation]: {
    readonly method: MethodFor<N>
    readonly path: PathFor<N>
    readonly answer: AnswerKindFor<N>
  }
}
