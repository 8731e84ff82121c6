import path from 'node:path'
import { totalmem } from 'node:os'
import { z } from 'zod'
import { parseEnv } from '@valley/process/parse-env.ts'
import { flag, LogLevel, port } from '@valley/process/settings.ts'
import { limits } from './limits.ts'

const mib = 1024 * 1024
const list = z
  .string()
  .default('')
  .transform((value) =>
    value
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
  )

const Env = z.object({
  NATS_URL: z.string().min(1).default('nats://127.0.0.1:4222'),
  NATS_REPLICAS: z.coerce.number().int().min(1).max(5).default(1),
  VALS_HOST: z.string().min(1).default('127.0.0.1'),
  VALS_PORT: port.default(8081),
  VALS_URL: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }).optional(),
  /** Where the runner's own /metrics and /healthz are; not for the world. */
  RUNNER_STATUS_HOST: z.string().min(1).default('127.0.0.1'),
  RUNNER_STATUS_PORT: port.default(8082),
  TRUST_PROXY: flag.default(false),
  SANDBOX: z.enum(['runc', 'runsc', 'process']).default('runc'),
  RUNNER_FOLDER: z.string().min(1).default('.valley/runner'),
  IDLE_WORKERS: z.coerce.number().int().min(1).max(1_000).default(limits.idleWorkers),
  MEMORY_BUDGET_MIB: z.coerce.number().int().min(256).optional(),
  WARM_IDLE_SECONDS: z.coerce
    .number()
    .int()
    .min(1)
    .default(limits.warmIdleMsMax / 1_000),
  QUEUED_RUNS_AT_ONCE: z.coerce.number().int().min(1).max(10_000).default(limits.queuedRunsAtOnceMax),
  EGRESS_DENIED: list,
  EGRESS_RESOLVERS: list,
  LOG_LEVEL: LogLevel.default('info'),
})

export interface Config {
  readonly natsUrl: string
  /** On how many servers of a NATS cluster each stream is kept. */
  readonly natsReplicas: number
  readonly host: string
  readonly port: number
  /** The address beneath which every val has its own: `http://alice--hello.` and then this one's host. */
  readonly valsUrl: URL
  readonly statusHost: string
  readonly statusPort: number
  /** Whether X-Forwarded-* headers come from a proxy of the operator's and may be believed. */
  readonly trustProxy: boolean
  readonly sandbox: z.infer<typeof Env>['SANDBOX']
  readonly folder: string
  readonly idleWorkers: number
  /** All workers together, idle ones included. */
  readonly memoryBudgetBytes: number
  readonly warmIdleMs: number
  /** Claimed off the queue and not over, whatever they wait for. */
  readonly queuedRunsAtOnce: number
  readonly egress: { readonly denied: readonly string[]; readonly resolvers: readonly string[] }
  readonly logLevel: LogLevel
}

/** The only place in the runner that reads the environment. Everything that is wrong is told at once. */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const data = parseEnv(Env, env)
  return {
    natsUrl: data.NATS_URL,
    natsReplicas: data.NATS_REPLICAS,
    host: data.VALS_HOST,
    port: data.VALS_PORT,
    valsUrl: new URL(data.VALS_URL ?? `http://localhost:${data.VALS_PORT}`),
    statusHost: data.RUNNER_STATUS_HOST,
    statusPort: data.RUNNER_STATUS_PORT,
    trustProxy: data.TRUST_PROXY,
    sandbox: data.SANDBOX,
    folder: path.resolve(data.RUNNER_FOLDER),
    idleWorkers: data.IDLE_WORKERS,
    memoryBudgetBytes: (data.MEMORY_BUDGET_MIB ?? Math.floor(totalmem() / 2 / mib)) * mib,
    warmIdleMs: data.WARM_IDLE_SECONDS * 1_000,
    queuedRunsAtOnce: data.QUEUED_RUNS_AT_ONCE,
    egress: { denied: data.EGRESS_DENIED, resolvers: data.EGRESS_RESOLVERS },
    logLevel: data.LOG_LEVEL,
  }
}
