import { aborted } from 'node:util'
import { lockFolder, type FolderLock } from './processes/lock-folder.ts'
import { EndRequested } from './processes/listen-for-end.ts'
import { PlainError } from './processes/plain-error.ts'
import { runMain } from './processes/run-main.ts'
import { describeEnd } from './processes/spawn-leashed.ts'
import { isPortFree } from './services/find-free-port.ts'
import { startNats } from './services/start-nats.ts'
import { startPostgres } from './services/start-postgres.ts'
import { ensureEnvironmentKeys } from './start/environment-keys.ts'
import { ensureFirstUser } from './start/first-user.ts'
import { readSettings, type StartSettings } from './start/settings.ts'
import { formatWelcome } from './start/welcome.ts'
import { chooseSandbox } from './valley-processes/choose-sandbox.ts'
import { formatWarningOrNull } from './valley-processes/log-line.ts'
import {
  prepareProcessFolder,
  startValleyProcess,
  type ValleyProcess,
} from './valley-processes/start-valley-process.ts'

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
  await requireFreePorts(settings)
  const databaseUrl =
    settings.databaseUrl ?? stack.use(await startPostgres({ folder, durable: true, signal })).url
  const natsUrl = settings.natsUrl ?? stack.use(await startNats({ folder, signal })).url
  lock.tell({ databaseUrl })
  const urls = { NATS_URL: natsUrl, VALS_URL: settings.valsUrl }
  const server = stack.use(await startOwnServer(settings, { DATABASE_URL: databaseUrl, ...urls }, signal))
  const runner = stack.use(await startOwnRunner(settings, urls, signal))
  // Only now that everything runs: a token is shown once, so that none may be made and then not be shown.
  const user = await ensureFirstUser(databaseUrl, firstUser)
  lock.tell({ databaseUrl, url: server.url })
  console.log(formatWelcome({ url: server.url, valsUrl: settings.valsUrl, folder, user }))
  await waitForEnd({ server, runner }, signal)
  console.log('Stopping.')
}

function takeFolder(folder: string): FolderLock {
  const taken = lockFolder(folder)
  if ('lock' in taken) return taken.lock
  const { pid, url } = taken.holder
  throw new PlainError(`Valley is already running in ${folder}${url ? `, at ${url}` : ''} (process ${pid}).`)
}

async function requireFreePorts(settings: StartSettings): Promise<void> {
  const { folder, host, port, valsHost, valsPort, statusHost, statusPort } = settings
  await prepareProcessFolder('server', folder)
  await prepareProcessFolder('runner', folder)
  await requireFreePort('PORT', port, host)
  await requireFreePort('VALS_PORT', valsPort, valsHost)
  await requireFreePort('RUNNER_STATUS_PORT', statusPort, statusHost)
}

async function requireFreePort(setting: string, port: number, host: string): Promise<void> {
  if (await isPortFree(port, host)) return
  throw new PlainError(
    `Port ${port} is in use by another program. Choose another one: ${setting}=${port + 10} npm start`,
  )
}

async function startOwnServer(settings: StartSettings, urls: NodeJS.ProcessEnv, signal: AbortSignal) {
  const { folder, host, port, watch } = settings
  const keys = await ensureEnvironmentKeys(folder, process.env)
  return startValleyProcess('server', {
    folder,
    env: { ...process.env, ...urls, HOST: host, PORT: String(port), ENVIRONMENT_KEYS: keys },
    watch,
    onLine: showWarning,
    signal,
  })
}

/** Told everything but where the database is. */
async function startOwnRunner(settings: StartSettings, urls: NodeJS.ProcessEnv, signal: AbortSignal) {
  const { folder, valsHost, valsPort, watch } = settings
  const { DATABASE_URL: _, ENVIRONMENT_KEYS: __, ...inherited } = process.env
  const own = { SANDBOX: chooseSandbox(inherited), VALS_HOST: valsHost, VALS_PORT: String(valsPort) }
  return startValleyProcess('runner', {
    folder,
    env: { RUNNER_FOLDER: 'state', ...inherited, ...own, ...urls },
    watch,
    onLine: showWarning,
    signal,
  })
}

function showWarning(line: string): void {
  const warning = formatWarningOrNull(line)
  if (warning !== null) console.error(warning)
}

async function waitForEnd(processes: Record<string, ValleyProcess>, signal: AbortSignal): Promise<void> {
  const asked = aborted(signal, processes).then(() => null)
  const ends = Object.entries(processes).map(async ([name, own]) => ({ name, own, end: await own.ended }))
  const first = await Promise.race([asked, ...ends])
  if (first === null) return
  throw new PlainError(
    `The ${first.name} ${describeEnd(first.end)}. Its last lines:\n${first.own.recentLines.toString()}`,
  )
}

await runMain(main)
