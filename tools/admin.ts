import { lockFolder } from './processes/lock-folder.ts'
import { PlainError } from './processes/plain-error.ts'
import { runInTerminal } from './processes/run-in-terminal.ts'
import { runMain } from './processes/run-main.ts'
import { serverAdmin } from './repository.ts'
import { startPostgres } from './services/start-postgres.ts'
import { findEnvironmentKeysOrNull } from './start/environment-keys.ts'
import { readSettings } from './start/settings.ts'

/** `npm run admin -- …`: the server's commands for operators, on the database that `npm start` uses. */
async function main(end: AbortSignal): Promise<number> {
  const { databaseUrl, folder } = readSettings(process.env, [])
  await using stack = new AsyncDisposableStack()
  const url = databaseUrl ?? (await findDatabase(folder, stack, end))
  const keys = await findEnvironmentKeysOrNull(folder, process.env)
  const env = { ...process.env, DATABASE_URL: url, ...(keys !== null && { ENVIRONMENT_KEYS: keys }) }
  return await runInTerminal(process.execPath, [serverAdmin, ...process.argv.slice(2)], { end, env })
}

/** The one that is running, or else our own, which then runs for as long as the command does. */
async function findDatabase(
  folder: string,
  stack: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<string> {
  const taken = lockFolder(folder)
  if ('lock' in taken) {
    stack.use(taken.lock)
    return stack.use(await startPostgres({ folder, durable: true, signal })).url
  }
  const { databaseUrl, pid } = taken.holder
  if (databaseUrl !== undefined) return databaseUrl
  throw new PlainError(`Process ${pid} is just starting in ${folder}. Try again in a moment.`)
}

await runMain(main)
