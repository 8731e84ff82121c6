import path from 'node:path'
import { openClient } from '../../bench/open-client.ts'
import { openTemporaryFolder } from '../../services/open-temporary-folder.ts'
import { startNats } from '../../services/start-nats.ts'
import { startPostgres } from '../../services/start-postgres.ts'
import { makeSteppedClock, type SteppedClock } from '../../services/stepped-clock.ts'
import { startValleyProcess } from '../../valley-processes/start-valley-process.ts'
import { chooseServerEnv } from '../../world/choose-env.ts'
import { createPeople } from '../../world/create-people.ts'

export interface ClockWorld extends AsyncDisposable {
  readonly url: string
  readonly token: string
  readonly client: Awaited<ReturnType<typeof openClient>>
  /** PostgreSQL's; the servers keep the real one. */
  readonly clock: SteppedClock
}

/** Two servers on a PostgreSQL whose clock can be put forward and back. */
export async function openClockWorld(): Promise<ClockWorld> {
  await using stack = new AsyncDisposableStack()
  const folder = stack.use(await openTemporaryFolder()).path
  const clock = await makeSteppedClock(path.join(folder, 'clock'))
  const options = { folder, durable: false, temporary: true }
  const postgres = stack.use(await startPostgres({ ...options, env: clock.env }))
  const nats = stack.use(await startNats(options))
  const urls: string[] = []
  for (const name of ['first', 'second']) {
    const env = await chooseServerEnv({ DATABASE_URL: postgres.url, NATS_URL: nats.url })
    urls.push(stack.use(await startValleyProcess('server', { folder: path.join(folder, name), env })).url)
  }
  const client = stack.use(await openClient(postgres.url))
  const { alice: token } = await createPeople(postgres.url)
  const opened = stack.move()
  const [url = ''] = urls
  return { url, token, client, clock, [Symbol.asyncDispose]: async () => opened.disposeAsync() }
}
