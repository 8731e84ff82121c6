import { isIP } from 'node:net'
import { z } from 'zod'
import { parseEnv } from '@valley/process/parse-env.ts'
import { flag, LogLevel, port } from '@valley/process/settings.ts'
import { type EnvironmentKeys, parseKeysOrNull } from './env/keys.ts'

const webUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https address' })
  .transform((url) => url.replace(/\/+$/, ''))

/** Every val gets a label in front of it, which an IP address cannot have. */
const domainUrl = webUrl.transform((text, context) => {
  const { href, origin, hostname } = new URL(text)
  if (href === `${origin}/` && isIP(hostname) === 0 && !hostname.startsWith('[')) return origin
  context.addIssue('must be a scheme and a domain only, such as https://vals.example.com')
  return z.NEVER
})

/** The message does not repeat what it is about: it is a secret. */
const keys = z.string().transform((text, context): EnvironmentKeys => {
  const parsed = parseKeysOrNull(text)
  if (parsed) return parsed
  context.addIssue('must be a list of id:key, separated by commas; a key is 32 bytes in base64')
  return z.NEVER
})

const Env = z.object({
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/, error: 'must be a postgres:// address' }),
  NATS_URL: z.string().min(1).default('nats://127.0.0.1:4222'),
  NATS_REPLICAS: z.coerce.number().int().min(1).max(5).default(1),
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: port.default(8080),
  PUBLIC_URL: webUrl.optional(),
  VALS_URL: domainUrl.optional(),
  ENVIRONMENT_KEYS: keys.optional(),
  TRUST_PROXY: flag.default(false),
  DATABASE_CONNECTIONS_MAX: z.coerce.number().int().min(1).max(1_000).default(10),
  RATE_LIMIT_PER_MINUTE: z.coerce.number().int().min(1).default(6_000),
  RATE_LIMIT_ANONYMOUS_PER_MINUTE: z.coerce.number().int().min(1).default(600),
  REQUESTS_AT_ONCE_MAX: z.coerce.number().int().min(1).default(100),
  QUEUED_RUNS_PER_OWNER_MAX: z.coerce.number().int().min(1).default(100_000),
  RUNS_AT_ONCE_PER_OWNER: z.coerce.number().int().min(1).default(200),
  RUNS_AT_ONCE_PER_VAL: z.coerce.number().int().min(1).default(100),
  RUNS_PER_DAY_MAX: z.coerce.number().int().min(1).optional(),
  RUN_RETENTION_DAYS: z.coerce.number().int().min(1).max(3_650).default(30),
  LOG_RETENTION_DAYS: z.coerce.number().int().min(1).max(3_650).optional(),
  LOG_LEVEL: LogLevel.default('info'),
})

export interface Config {
  readonly databaseUrl: string
  readonly natsUrl: string
  /** On how many servers of a NATS cluster each stream is kept. */
  readonly natsReplicas: number
  readonly host: string
  readonly port: number
  /** Where the service is reached from outside; undefined: at the address it listens on. */
  readonly publicUrl: string | undefined
  /** The domain under which vals answer; undefined: they do not. */
  readonly valsUrl: string | undefined
  readonly environmentKeys: EnvironmentKeys
  /** Whether X-Forwarded-* headers come from a proxy of the operator's and may be believed. */
  readonly trustProxy: boolean
  readonly databaseConnectionsMax: number
  readonly rateLimitPerMinute: number
  readonly rateLimitAnonymousPerMinute: number
  /** How many requests one caller may have under way. */
  readonly requestsAtOnceMax: number
  /** How many runs of one owner may wait or run: more are refused. */
  readonly queuedRunsPerOwnerMax: number
  /** How many queued runs of one owner, and of one val, run at once: more wait. */
  readonly runsAtOncePerOwner: number
  readonly runsAtOncePerVal: number
  /** How many runs of any source one owner may have in a day; null: any number. */
  readonly runsPerDayMax: number | null
  readonly runRetentionDays: number
  /** For how long what runs printed and returned is kept; never longer than the runs. */
  readonly logRetentionDays: number
  readonly logLevel: LogLevel
}

/** The only place in the server that reads the environment. Everything that is wrong is told at once. */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const data = parseEnv(Env, env)
  return {
    databaseUrl: data.DATABASE_URL,
    natsUrl: data.NATS_URL,
    natsReplicas: data.NATS_REPLICAS,
    host: data.HOST,
    port: data.PORT,
    publicUrl: data.PUBLIC_URL,
    valsUrl: data.VALS_URL,
    environmentKeys: data.ENVIRONMENT_KEYS ?? [],
    trustProxy: data.TRUST_PROXY,
    databaseConnectionsMax: data.DATABASE_CONNECTIONS_MAX,
    rateLimitPerMinute: data.RATE_LIMIT_PER_MINUTE,
    rateLimitAnonymousPerMinute: data.RATE_LIMIT_ANONYMOUS_PER_MINUTE,
    requestsAtOnceMax: data.REQUESTS_AT_ONCE_MAX,
    queuedRunsPerOwnerMax: data.QUEUED_RUNS_PER_OWNER_MAX,
    runsAtOncePerOwner: data.RUNS_AT_ONCE_PER_OWNER,
    runsAtOncePerVal: data.RUNS_AT_ONCE_PER_VAL,
    runsPerDayMax: data.RUNS_PER_DAY_MAX ?? null,
    runRetentionDays: data.RUN_RETENTION_DAYS,
    logRetentionDays: Math.min(data.LOG_RETENTION_DAYS ?? data.RUN_RETENTION_DAYS, data.RUN_RETENTION_DAYS),
    logLevel: data.LOG_LEVEL,
  }
}
