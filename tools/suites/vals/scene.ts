import { Agent, request, type Dispatcher } from 'undici'
import { type Client, createClient, isValleyError, type RunDetails, type Val } from '@valley/sdk/client.ts'
import { waitFor } from '@valley/server/testing/wait-until.ts'
import { openWorld, type World } from '../../world/open-world.ts'
import { readMetric } from '../../vals/runner-metrics.ts'

type Fields = Partial<Pick<Val, 'privacy' | 'type'>>

type RequestOptions = NonNullable<Parameters<typeof request<null>>[1]>

export interface CallOptions {
  readonly method?: string
  readonly headers?: Record<string, string | string[]> | readonly string[]
  readonly body?: Dispatcher.DispatchOptions['body']
  readonly signal?: AbortSignal
}

export interface Answer {
  readonly status: number
  readonly headers: Record<string, string | string[] | undefined>
  readonly bytes: Buffer
  readonly text: string
}

export interface Scene extends AsyncDisposable {
  readonly world: World
  readonly alice: Client
  readonly bob: Client
  /** Where vals answer on this machine, whatever their names. */
  readonly port: number
  /** Finds every name beneath localhost on this machine, which not every resolver does. */
  readonly dispatcher: Agent
  /** A val of alice's, of type http unless told. Saved again, it has another version. */
  save(name: string, code: string, fields?: Fields): Promise<Val>
  /** The address of a label: `alice--hello`, or an id without its dashes. */
  urlOf(label: string, path?: string): string
  /** Calls a val of alice's. */
  call(name: string, path?: string, options?: CallOptions): Promise<Answer>
  callLabel(label: string, path?: string, options?: CallOptions): Promise<Answer>
  /** The answer as it comes, for whoever reads it slowly or not at all. */
  open(name: string, path?: string, options?: CallOptions): Promise<Dispatcher.ResponseData>
  /** The record of a run, once there is one. */
  findRun(runId: string): Promise<RunDetails>
  /** The newest of a val's last few records that is meant. */
  findLastRun(val: Val, isMeant?: (run: RunDetails) => boolean): Promise<RunDetails>
  metric(line: string): Promise<number>
}

/** A world whose vals are called as a client from outside would. */
export async function openScene(runnerEnv: NodeJS.ProcessEnv = {}): Promise<Scene> {
  const world = await openWorld({
    durable: false,
    serverEnv: { RATE_LIMIT_PER_MINUTE: '1000000', REQUESTS_AT_ONCE_MAX: '1000' },
    runnerEnv: { SANDBOX: process.env['SANDBOX'] ?? 'runc', ...runnerEnv },
  })
  const port = Number(new URL(world.valsUrl).port)
  const dispatcher = createDispatcher()
  const alice = createClient({ baseUrl: world.url, token: world.tokens.alice })
  const bob = createClient({ baseUrl: world.url, token: world.tokens.bob })
  const urlOf = (label: string, path = '/') => `http://${label}.localhost:${port}${path}`
  const openLabel = async (label: string, path?: string, options: CallOptions = {}) =>
    request(urlOf(label, path), { dispatcher, ...options } as RequestOptions)
  const callLabel = async (label: string, path?: string, options?: CallOptions) =>
    readAnswer(await openLabel(label, path, options))
  const findRun = async (runId: string) => waitFor(`run ${runId}`, async () => findRunOrNull(alice, runId))
  return {
    world,
    alice,
    bob,
    port,
    dispatcher,
    urlOf,
    callLabel,
    findRun,
    save: async (name, code, fields) =>
      alice.vals.put({ name, code, type: 'http', privacy: 'public', ...fields }),
    call: async (name, path, options) => callLabel(labelOf(name), path, options),
    open: async (name, path, options) => openLabel(labelOf(name), path, options),
    findLastRun: async (val, isMeant = () => true) =>
      waitFor(`a run of ${val.name}`, async () => findLastRunOrNull(alice, val, isMeant)),
    metric: async (line) => readMetric(world.runnerStatusUrl, line),
    async [Symbol.asyncDispose]() {
      await dispatcher.destroy()
      await world[Symbol.asyncDispose]()
    },
  }
}

function createDispatcher(): Agent {
  return new Agent({
    connect: { lookup: (_, __, found) => found(null, [{ address: '127.0.0.1', family: 4 }]) },
    connections: 1_000,
    headersTimeout: 60_000,
  })
}

export async function readAnswer({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<Answer> {
  const bytes = Buffer.from(await body.arrayBuffer())
  return { status: statusCode, headers, bytes, text: bytes.toString() }
}

function labelOf(name: string): string {
  return `alice--${name.toLowerCase().replaceAll('_', '-')}`
}

async function findLastRunOrNull(client: Client, val: Val, isMeant: (run: RunDetails) => boolean) {
  const { data } = await client.vals.runs.list(val.id, { limit: 10 })
  const runs = await Promise.all(data.map(async ({ id }) => client.runs.get(id)))
  return runs.find(isMeant) ?? null
}

async function findRunOrNull(client: Client, runId: string): Promise<RunDetails | null> {
  try {
    return await client.runs.get(runId)
  } catch (error) {
    if (isValleyError(error, 'not_found')) return null
    throw error
  }
}
