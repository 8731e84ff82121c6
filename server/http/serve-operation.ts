import type { IncomingMessage } from 'node:http'
import type { Operation } from '@valley/contract/operation.ts'
import { limits as contractLimits } from '@valley/contract/limits.ts'
import { type Caller, hasScope } from '../caller.ts'
import type { Context } from '../context.ts'
import { Fault } from '../fault.ts'
import { answerOnce } from '../idempotency/answer-once.ts'
import { awaitRun } from '../queue/await-run.ts'
import { authenticate, bearerOf, unauthenticated } from '../tokens/authenticate.ts'
import type { HttpServices } from './http-services.ts'
import { type Allowance, rateLimitHeaders } from './rate-limiter.ts'
import { type ParsedRequest, parseRequest, type RawRequest } from './parse-request.ts'
import { readBody } from './read-body.ts'
import { baseUrlOf, clientAddressOf } from './reverse-proxy.ts'
import { renderAnswer, type Rendered } from './render.ts'
import type { NamedOperation } from './route.ts'

/** What became of a request; `headers` are for its answer, whatever that is. */
export interface Progress {
  headers: Readonly<Record<string, string>>
  caller: Caller | null
}

/** One request, step by step: who is it, may they, how often, what do they want, do it, say it. */
export async function serveOperation(
  services: HttpServices,
  named: NamedOperation,
  { raw, progress }: { readonly raw: RawRequest; readonly progress: Progress },
): Promise<Rendered> {
  const { operation } = named
  if (operation.auth === 'none') return serveCaller(services, named, { raw, caller: null })
  const caller = await identify(services, operation, { raw, progress })
  // From here on the request costs something, and a body that comes slowly keeps its place.
  const place = takePlace(services, raw, caller)
  try {
    return await serveCaller(services, named, { raw, caller })
  } finally {
    place[Symbol.dispose]()
  }
}

async function serveCaller(
  services: HttpServices,
  { name, operation }: NamedOperation,
  { raw, caller }: { readonly raw: RawRequest; readonly caller: Caller | null },
): Promise<Rendered> {
  const bodyText = operation.body ? await readBody(raw.incoming) : ''
  const request = parseRequest(operation, raw, bodyText)
  const handler = services.handlers[name] as (
    context: Context,
    caller: Caller | null,
    request: unknown,
  ) => Promise<unknown>
  const answer = async (context: Context) => renderAnswer(operation, await handler(context, caller, request))
  const context = contextOf(services, raw.incoming)
  const key = idempotencyKeyOf(operation, raw.incoming)
  const rendered =
    key === null || caller === null
      ? await answer(context)
      : await answerIdempotently(context, { caller, key, raw, request }, answer)
  // Whoever is told that it is saved may call it at once.
  if (operation.method !== 'GET') await services.bus.hintsTaken()
  const { awaited, headers } = rendered
  if (awaited === undefined || caller === null) return rendered
  using leaving = watchLeaving(raw.incoming)
  const ended = await awaitRun(context, caller, {
    ...awaited,
    location: headers['location'],
    signal: leaving.signal,
  })
  return ended === null ? rendered : renderAnswer(operation, ended)
}

/** Its signal is aborted once nobody is there any more to be answered. */
function watchLeaving({ socket }: IncomingMessage): Disposable & { readonly signal: AbortSignal } {
  const leaving = new AbortController()
  const leave = () => leaving.abort()
  if (socket.destroyed) leave()
  socket.once('close', leave)
  return { signal: leaving.signal, [Symbol.dispose]: () => void socket.off('close', leave) }
}

function takePlace({ config, underWay }: HttpServices, { incoming }: RawRequest, caller: Caller | null) {
  return underWay.enter(caller?.id ?? clientAddressOf(config, incoming), config.requestsAtOnceMax)
}

async function identify(
  services: HttpServices,
  operation: Operation,
  { raw, progress }: { readonly raw: RawRequest; readonly progress: Progress },
): Promise<Caller | null> {
  const { authorization } = raw.incoming.headers
  if (authorization === undefined) {
    progress.headers = rateLimitHeaders(takeAnonymously(services, raw.incoming))
    if (operation.auth === 'required') throw unauthenticated('Send a token as "Authorization: Bearer vly_…".')
    return null
  }
  const caller = await authenticateWithin(services, authorization, { raw, progress })
  progress.caller = caller
  progress.headers = rateLimitHeaders(services.limiter.take(caller.id, services.config.rateLimitPerMinute))
  services.tokenUses.note(caller.tokenId)
  if (operation.scope !== null && !hasScope(caller, operation.scope)) {
    throw new Fault('forbidden_scope', `This token lacks the scope ${operation.scope}. Make one that has it.`)
  }
  return caller
}

/** Guessing tokens costs the guesser's address its allowance; how many look-ups it has under way is bounded, too. */
async function authenticateWithin(
  services: HttpServices,
  authorization: string,
  { raw, progress }: { readonly raw: RawRequest; readonly progress: Progress },
): Promise<Caller> {
  const { db, callers } = services
  const enter = () => takePlace(services, raw, null)
  try {
    return await authenticate({ db, callers, enter }, authorization)
  } catch (error) {
    const isGuess = error instanceof Fault && error.code === 'unauthenticated'
    if (isGuess) progress.headers = rateLimitHeaders(takeAnonymously(services, raw.incoming))
    throw error
  }
}

function takeAnonymously({ limiter, config }: HttpServices, incoming: IncomingMessage): Allowance {
  return limiter.take(clientAddressOf(config, incoming), config.rateLimitAnonymousPerMinute)
}

/** Outside of a transaction every statement commits by itself, so its effects follow at once. */
function contextOf(services: HttpServices, incoming: IncomingMessage): Context {
  const { db, bus, queue, callers, config, defaultBaseUrl } = services
  const baseUrl = config.trustProxy ? baseUrlOf(incoming, defaultBaseUrl()) : defaultBaseUrl()
  const { valsUrl, environmentKeys } = config
  return {
    db,
    root: db,
    bus,
    queue,
    bounds: config,
    callers,
    baseUrl,
    valsUrl,
    environmentKeys,
    afterCommit: (effect) => effect(),
  }
}

function idempotencyKeyOf({ method }: Operation, { headers }: IncomingMessage): string | null {
  const key = headers['idempotency-key']
  if (method !== 'POST' || key === undefined) return null
  const max = contractLimits.idempotencyKeyCharsMax
  if (typeof key === 'string' && key.length > 0 && key.length <= max) return key
  throw new Fault('invalid_request', `An Idempotency-Key has 1 to ${max} characters.`, {
    issues: [{ path: 'headers.idempotency-key', message: `must have 1 to ${max} characters` }],
  })
}

interface Keyed {
  readonly caller: Caller
  readonly key: string
  readonly raw: RawRequest
  readonly request: ParsedRequest
}

async function answerIdempotently(
  context: Context,
  { caller, key, raw, request }: Keyed,
  answer: (context: Context) => Promise<Rendered>,
): Promise<Rendered> {
  const { method, headers } = raw.incoming
  const effects: (() => void)[] = []
  const once = {
    caller,
    tokenText: bearerOf(headers.authorization ?? '') ?? '',
    key,
    fingerprint: [method, raw.target, headers['content-type'], headers['if-match'], request.bodyText].join(
      '\n',
    ),
  }
  const rendered = await answerOnce(context.db, once, (db) =>
    answer({ ...context, db, afterCommit: (effect) => effects.push(effect) }),
  )
  for (const effect of effects) effect()
  return rendered
}
