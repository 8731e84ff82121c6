import type { Bus } from '@valley/bus/connect-bus.ts'
import type { ReplyBody, RequestName } from '@valley/bus/requests.ts'
import { hasScope } from './caller.ts'
import { passingDatabaseFault } from './database/database-fault.ts'
import type { Db } from './database/statement.ts'
import type { EnvironmentKeys } from './env/keys.ts'
import { Fault } from './fault.ts'
import type { Observations } from './observations.ts'
import { findCallerOfHashOrNull } from './tokens/authenticate.ts'
import type { CallerCache } from './tokens/caller-cache.ts'
import type { TokenUses } from './tokens/token-uses.ts'
import { resolveVal } from './vals/resolve-val.ts'

interface RunnerServices {
  readonly db: Db
  readonly callers: CallerCache
  readonly tokenUses: Pick<TokenUses, 'note'>
  readonly environmentKeys: EnvironmentKeys
  readonly runsPerDayMax: number | null
  readonly observe: Observations
}

/** Answers what runners ask. Whatever goes wrong, they are told at once, so that they go on with what they know. */
export function serveRunners(bus: Pick<Bus, 'serve'>, services: RunnerServices): void {
  const { observe } = services
  bus.serve('resolveVal', async ({ label }) =>
    answerOrUnavailable(observe, 'resolveVal', resolveVal(services, label)),
  )
  bus.serve('identifyCaller', async ({ tokenHash }) =>
    answerOrUnavailable(observe, 'identifyCaller', identifyCaller(services, tokenHash)),
  )
}

export async function answerOrUnavailable<Reply>(
  observe: Observations,
  question: RequestName,
  answer: Promise<Reply>,
): Promise<Reply | { readonly kind: 'unavailable' }> {
  try {
    return await answer
  } catch (error) {
    observeFailure(observe, question, error)
    return { kind: 'unavailable' }
  }
}

/** Calling a private val is running it, so that the token needs the scope for that. */
async function identifyCaller(
  services: RunnerServices,
  tokenHash: string,
): Promise<ReplyBody<'identifyCaller'>> {
  const caller = await findCallerOfHashOrNull(services, tokenHash)
  if (caller === null || !hasScope(caller, 'run:write')) return { kind: 'unknown' }
  services.tokenUses.note(caller.tokenId)
  return { kind: 'known', userId: caller.id }
}

function observeFailure(observe: Observations, question: RequestName, error: unknown): void {
  const passes = error instanceof Fault || passingDatabaseFault(error) !== null
  if (passes) observe.runnerNotAnswered(question, error)
  else observe.runnerAnswerFailed(question, error)
}
