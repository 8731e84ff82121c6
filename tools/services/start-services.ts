import { startNats } from './start-nats.ts'
import { startPostgres, type Postgres } from './start-postgres.ts'
import type { Service } from './service.ts'

export interface ServicesOptions {
  /** Where all their files are kept; made when missing. */
  folder: string
  durable: boolean
  temporary?: boolean | undefined
  signal?: AbortSignal | undefined
}

export interface Services extends AsyncDisposable {
  readonly databaseUrl: string
  readonly natsUrl: string
  readonly postgres: Postgres
  readonly nats: Service
}

export async function startServices(options: ServicesOptions): Promise<Services> {
  await using stack = new AsyncDisposableStack()
  const postgres = stack.use(await startPostgres(options))
  const nats = stack.use(await startNats(options))
  const started = stack.move()
  return {
    databaseUrl: postgres.url,
    natsUrl: nats.url,
    postgres,
    nats,
    [Symbol.asyncDispose]: async () => started.disposeAsync(),
  }
}
