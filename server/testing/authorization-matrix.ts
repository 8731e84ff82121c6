import type { OperationName } from '@valley/contract/operations.ts'
import type { Scope } from '@valley/contract/scopes.ts'

/** Status and error code; for a list also whether it shows the val (or the token, or the variable) that the cell is about. */
export type Outcome =
  | '200'
  | '201'
  | '202'
  | '204'
  | '200 shown'
  | '200 hidden'
  | '401 unauthenticated'
  | '403 forbidden'
  | '403 forbidden_scope'
  | '404 not_found'
  | '409 name_taken'
  | '409 run_ended'

/** One outcome, or one each for a public, an unlisted and a private val. */
export type Outcomes = Outcome | readonly [Outcome, Outcome, Outcome]

export interface Row {
  /** What a token needs; null: tokens are not looked at. */
  readonly scope: Scope | null
  readonly noToken: Outcomes
  readonly stranger: Outcomes
  readonly owner: Outcomes
}

const anyone: Row = { scope: null, noToken: '200', stranger: '200', owner: '200' }
const refused = '401 unauthenticated'
const shown = ['200 shown', '200 shown', '200 shown'] as const
const hidden = ['200 hidden', '200 hidden', '200 hidden'] as const
const shownIfPublic = ['200 shown', '200 hidden', '200 hidden'] as const
const shownUnlessPrivate = ['200 shown', '200 shown', '200 hidden'] as const
const readUnlessPrivate = ['200', '200', '404 not_found'] as const
const readIfPublic = ['200', '404 not_found', '404 not_found'] as const
const notTheirs = ['403 forbidden', '403 forbidden', '404 not_found'] as const
const always200 = ['200', '200', '200'] as const
const always204 = ['204', '204', '204'] as const
const always404 = ['404 not_found', '404 not_found', '404 not_found'] as const

/**
 * Who may do what. The val, its comment, the token and the variables are the owner's. The stranger liked the val, commented on it
 * and is imported by it from the time before it got its privacy. Bad tokens are refused by the rule in `outcomeOf`.
 */
export const matrix: Readonly<Record<OperationName, Row>> = {
  getMe: { scope: 'user:read', noToken: refused, stranger: '200', owner: '200' },
  updateMe: { scope: 'user:write', noToken: refused, stranger: '200', owner: '200' },
  getMyUsage: { scope: 'user:read', noToken: refused, stranger: '200', owner: '200' },
  getUser: { scope: 'user:read', noToken: '200', stranger: '200', owner: '200' },
  getUserByName: { scope: 'user:read', noToken: '200', stranger: '200', owner: '200' },

  createVal: { scope: 'val:write', noToken: refused, stranger: '201', owner: '409 name_taken' },
  putVal: { scope: 'val:write', noToken: refused, stranger: ['201', '201', '201'], owner: always200 },
  getVal: { scope: 'val:read', noToken: readUnlessPrivate, stranger: readUnlessPrivate, owner: always200 },
  getModule: { scope: 'val:read', noToken: readUnlessPrivate, stranger: readUnlessPrivate, owner: always200 },
  getValByName: { scope: 'val:read', noToken: readIfPublic, stranger: readIfPublic, owner: always200 },
  updateVal: { scope: 'val:write', noToken: refused, stranger: notTheirs, owner: always204 },
  deleteVal: { scope: 'val:write', noToken: refused, stranger: notTheirs, owner: always204 },
  listMyVals: { scope: 'val:read', noToken: refused, stranger: hidden, owner: shown },
  listUserVals: { scope: 'val:read', noToken: refused, stranger: shownIfPublic, owner: shown },
  searchVals: { scope: 'val:read', noToken: shownIfPublic, stranger: shownIfPublic, owner: shown },

  listVersions: { scope: 'val:read', noToken: readUnlessPrivate, stranger: readUnlessPrivate, owner: shown },
  getVersion: {
    scope: 'val:read',
    noToken: readUnlessPrivate,
    stranger: readUnlessPrivate,
    owner: always200,
  },
  createVersion: { scope: 'val:write', noToken: refused, stranger: notTheirs, owner: ['201', '201', '201'] },
  deleteVersion: { scope: 'val:write', noToken: refused, stranger: notTheirs, owner: always204 },

  listMyRuns: { scope: 'run:read', noToken: refused, stranger: hidden, owner: shown },
  listValRuns: { scope: 'run:read', noToken: refused, stranger: always404, owner: shown },
  getRun: { scope: 'run:read', noToken: refused, stranger: always404, owner: always200 },
  runVal: { scope: 'run:write', noToken: refused, stranger: notTheirs, owner: ['202', '202', '202'] },
  cancelRun: {
    scope: 'run:write',
    noToken: refused,
    stranger: always404,
    owner: ['409 run_ended', '409 run_ended', '409 run_ended'],
  },
  getRetry: { scope: 'val:read', noToken: refused, stranger: always404, owner: always200 },
  setRetry: { scope: 'val:write', noToken: refused, stranger: always404, owner: always200 },
  tailVal: { scope: 'run:read', noToken: refused, stranger: always404, owner: always200 },

  listMyLikes: { scope: 'user:read', noToken: refused, stranger: shownUnlessPrivate, owner: hidden },
  likeVal: { scope: 'user:write', noToken: refused, stranger: ['204', '204', '404 not_found'], owner: '204' },
  unlikeVal: { scope: 'user:write', noToken: refused, stranger: always204, owner: '204' },

  listMyComments: { scope: 'user:read', noToken: refused, stranger: shownUnlessPrivate, owner: shown },
  listComments: { scope: 'val:read', noToken: refused, stranger: readUnlessPrivate, owner: shown },
  createComment: {
    scope: 'user:write',
    noToken: refused,
    stranger: ['201', '201', '404 not_found'],
    owner: '201',
  },
  updateComment: { scope: 'user:write', noToken: refused, stranger: notTheirs, owner: '200' },
  deleteComment: { scope: 'user:write', noToken: refused, stranger: notTheirs, owner: '204' },

  listMyReferences: { scope: 'val:read', noToken: refused, stranger: shownUnlessPrivate, owner: hidden },

  listMyTokens: { scope: 'user:read', noToken: refused, stranger: '200 hidden', owner: '200 shown' },
  createToken: { scope: 'user:write', noToken: refused, stranger: '201', owner: '201' },
  deleteToken: { scope: 'user:write', noToken: refused, stranger: '404 not_found', owner: '204' },

  listMyVariables: { scope: 'user:read', noToken: refused, stranger: '200 hidden', owner: '200 shown' },
  setMyVariable: { scope: 'user:write', noToken: refused, stranger: '204', owner: '204' },
  deleteMyVariable: { scope: 'user:write', noToken: refused, stranger: '204', owner: '204' },
  listValVariables: { scope: 'val:read', noToken: refused, stranger: always404, owner: shown },
  setValVariable: { scope: 'val:write', noToken: refused, stranger: always404, owner: always204 },
  deleteValVariable: { scope: 'val:write', noToken: refused, stranger: always404, owner: always204 },

  getSchedule: { scope: 'val:read', noToken: refused, stranger: always404, owner: always200 },
  setSchedule: { scope: 'val:write', noToken: refused, stranger: always404, owner: always200 },
  deleteSchedule: { scope: 'val:write', noToken: refused, stranger: always404, owner: always204 },
  getAlerts: { scope: 'val:read', noToken: refused, stranger: always404, owner: always200 },
  setAlerts: { scope: 'val:write', noToken: refused, stranger: always404, owner: always200 },
  deleteAlerts: { scope: 'val:write', noToken: refused, stranger: always404, owner: always204 },

  getHealth: anyone,
  getReadiness: anyone,
  getMetrics: anyone,
  getOpenapi: anyone,
  getDocs: anyone,
}

export const credentials = [
  'noToken',
  'malformed',
  'unknown',
  'expired',
  'revoked',
  'lackingScope',
  'stranger',
  'owner',
] as const
export type Credential = (typeof credentials)[number]

export const privacies = ['public', 'unlisted', 'private'] as const
export type Privacy = (typeof privacies)[number]

export interface Cell {
  readonly credential: Credential
  readonly privacy: Privacy
  readonly expected: Outcome
}

/** Every cell of an operation. Where no outcome depends on the val's privacy, one privacy stands for all. */
export function cellsOf(name: OperationName): readonly Cell[] {
  const row = matrix[name]
  const dependsOnPrivacy = [row.noToken, row.stranger, row.owner].some((outcomes) => Array.isArray(outcomes))
  return (dependsOnPrivacy ? privacies : (['public'] as const)).flatMap((privacy) =>
    credentials.map((credential) => ({ credential, privacy, expected: outcomeOf(row, credential, privacy) })),
  )
}

/** A token that is not good is refused also where none is needed, but never where tokens are not looked at. */
function outcomeOf(row: Row, credential: Credential, privacy: Privacy): Outcome {
  if (credential === 'noToken' || credential === 'stranger' || credential === 'owner') {
    const outcomes = row[credential]
    return typeof outcomes === 'string' ? outcomes : outcomes[privacies.indexOf(privacy) as 0 | 1 | 2]
  }
  if (row.scope === null) return '200'
  return credential === 'lackingScope' ? '403 forbidden_scope' : '401 unauthenticated'
}
