import { aborted } from 'node:util'
import { lockFolder, type FolderLock } from './processes/lock-folder.ts'
import { EndRequested } from './processes/listen-for-end.ts'
import { PlainError } from './processes/plain-error.ts'
import { runMain } from './processes/run-main.ts'
import { describeEnd } from './processes/spawn-leashed.ts'
import { formatWarningOrNull } from './server-process/log-line.ts'
import { prepareServerFolder, startServer, type ServerProcess } from './server-process/start-server.ts'
import { isPortFree } from './services/find-free-port.ts'
import { startNats } from './services/start-nats.ts'
import { startPostgres } from './services/start-postgres.ts'
import { ensureFirstUser } from './start/first-user.ts'
import { readSettings, type StartSettings } from './start/settings.ts'
import { formatWelcome } from './start/welcome.ts'

/** `npm start`: everything, until Ctrl-C. */
async function main(end: AbortSignal): Promise<number> {
  try {
    await start(readSettings(process.env, process.argv.slice(2)), end)
    return 0
  } catch (error) {
    if (error instanceof EndRequested) return 0
    throw error
  }
}

/** What was started last is stopped first: the server drains while its database is still there. */
async function start(settings: StartSettings, signal: AbortSignal): Promise<void> {
  const { folder, firstUser } = settings
  await using stack = new AsyncDisposableStack()
  const lock = stack.use(takeFolder(folder))
  await requireFreePort(settings)
  const databaseUrl =
    settings.databaseUrl ?? stack.use(await startPostgres({ folder, durable: true, signal })).url
  const natsUrl = settings.natsUrl ?? stack.use(await startNats({ folder, signal })).url
  lock.tell({ databaseUrl })
  const urls = { DATABASE_URL: databaseUrl, NATS_URL: natsUrl }
  const server = stack.use(await startOwnServer(settings, urls, signal))
  // Only now that everything runs: a token is shown once, so that none may be made and then not be shown.
  const user = await ensureFirstUser(databaseUrl, firstUser)
  lock.tell({ databaseUrl, url: server.url })
  console.log(formatWelcome(server.url, folder, user))
  await waitForEnd(server, signal)
  console.log('Stopping.')
}

function takeFolder(folder: string): FolderLock {
  const taken = lockFolder(folder)
  if ('lock' in taken) return taken.lock
  const { pid, url } = taken.holder
  throw new PlainError(`Valley is already running in ${folder}${url ? `, at ${url}` : ''} (process ${pid}).`)
}

async function requireFreePort({ folder, host, port }: StartSettings): Promise<void> {
  await prepareServerFolder(folder)
  if (await isPortFree(port, host)) return
  throw new PlainError(
    `Port ${port} is in use by another program. Choose another one: PORT=${port + 1} npm start`,
  )
}

async function startOwnServer(settings: StartSettings, urls: NodeJS.ProcessEnv, signal: AbortSignal) {
  const { folder, host, port, watch } = settings
  return startServer({
    folder,
    env: { ...process.env, ...urls, HOST: host, PORT: String(port) },
    watch,
    onLine: showWarning,
    signal,
  })
}

function showWarning(line: string): void {
  const warning = formatWarningOrNull(line)
  if (warning !== null) console.error(warning)
}

async function waitForEnd(server: ServerProcess, signal: AbortSignal): Promise<void> {
  const asked = aborted(signal, server).then(() => null)
  const serverEnd = await Promise.race([asked, server.ended])
  if (serverEnd === null) return
  throw new PlainError(
    `The server ${describeEnd(serverEnd)}. Its last lines:\n${server.recentLines.toString()}`,
  )
}

await runMain(main)
