import path from 'node:path'
import { PlainError } from '../processes/plain-error.ts'
import { repositoryFolder } from '../repository.ts'

/** What `npm start` takes from the environment; the server reads the rest by itself. */
export interface StartSettings {
  /** Where everything that is to be kept is kept. */
  folder: string
  /** Where set, that server is used instead of one of our own. */
  databaseUrl: string | null
  natsUrl: string | null
  host: string
  port: number
  /** Where vals answer. */
  valsHost: string
  valsPort: number
  valsUrl: string
  /** Where the runner's metrics are. */
  statusHost: string
  statusPort: number
  firstUser: string
  watch: boolean
}

export function readSettings(env: NodeJS.ProcessEnv, args: readonly string[]): StartSettings {
  const valsPort = readPort('VALS_PORT', env['VALS_PORT'] || '8081')
  return {
    folder: path.resolve(repositoryFolder, env['VALLEY_DATA'] || '.valley'),
    databaseUrl: env['DATABASE_URL'] || null,
    natsUrl: env['NATS_URL'] || null,
    host: env['HOST'] || '127.0.0.1',
    port: readPort('PORT', env['PORT'] || '8080'),
    valsHost: env['VALS_HOST'] || '127.0.0.1',
    valsPort,
    valsUrl: env['VALS_URL'] || `http://localhost:${valsPort}`,
    statusHost: env['RUNNER_STATUS_HOST'] || '127.0.0.1',
    statusPort: readPort('RUNNER_STATUS_PORT', env['RUNNER_STATUS_PORT'] || '8082'),
    firstUser: env['VALLEY_FIRST_USER'] || 'me',
    watch: args.includes('--watch'),
  }
}

function readPort(setting: string, text: string): number {
  const port = Number(text)
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return port
  throw new PlainError(`${setting} must be a number from 1 to 65535, not "${text}".`)
}
