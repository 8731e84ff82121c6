import { glob } from 'node:fs/promises'
import { migrate } from '@valley/server/database/migrate.ts'
import { runInTerminal } from './processes/run-in-terminal.ts'
import { runMain } from './processes/run-main.ts'
import { repositoryFolder } from './repository.ts'
import { openTemporaryFolder } from './services/open-temporary-folder.ts'
import { runSql } from './services/run-sql.ts'
import { startServices } from './services/start-services.ts'

const concurrency = 2
const testTimeoutMs = 180_000

/** `npm test -- [files…]`: the tests against one PostgreSQL and one NATS, which end with them. */
async function main(end: AbortSignal): Promise<number> {
  const named = process.argv.slice(2)
  const files = named.length > 0 ? named : await findTests()
  await using stack = new AsyncDisposableStack()
  const folder = stack.use(await openTemporaryFolder()).path
  const { postgres, natsUrl } = stack.use(await startServices({ folder, durable: false, signal: end }))

  await runSql(postgres.urlOf('postgres'), 'CREATE DATABASE valley_template')
  await migrate(postgres.urlOf('valley_template'))
  const options = [
    `--test-concurrency=${concurrency}`,
    `--test-timeout=${testTimeoutMs}`,
    '--test-reporter=spec',
  ]
  return await runInTerminal(process.execPath, ['--test', ...options, ...files], {
    end,
    env: { ...process.env, TEST_POSTGRES_URL: postgres.urlOf('postgres'), TEST_NATS_URL: natsUrl },
  })
}

/** The suites take minutes and open worlds of their own: they run by name, and in CI. */
async function findTests(): Promise<string[]> {
  const exclude = ['**/node_modules/**', 'tools/suites/**']
  const files = await Array.fromAsync(glob('**/*.test.ts', { cwd: repositoryFolder, exclude }))
  return files.toSorted()
}

await runMain(main)
