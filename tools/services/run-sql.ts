import { runCommand } from '../processes/run-command.ts'
import { findPostgresBinary } from './postgres-binaries.ts'

/** For the tools alone, which do without a database driver. Returns rows as lines, fields set apart by `|`. */
export async function runSql(url: string, sql: string): Promise<string> {
  const args = ['--no-psqlrc', '--no-align', '--tuples-only', '--quiet', '--set=ON_ERROR_STOP=1']
  const output = await runCommand(findPostgresBinary('psql'), [...args, `--command=${sql}`, url])
  return output.trim()
}
