import { newKeyText } from '@valley/server/env/keys.ts'
import { findFreePort } from '../services/find-free-port.ts'
import { chooseSandbox } from '../valley-processes/choose-sandbox.ts'

/** In the runner's own folder. */
export const runnerState = 'state'

export async function chooseServerEnv(own: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv> {
  const { PUBLIC_URL: _, ...inherited } = process.env
  const chosen = {
    HOST: '127.0.0.1',
    PORT: String(await findFreePort()),
    ENVIRONMENT_KEYS: newKeyText('world'),
  }
  return { ...inherited, ...chosen, ...own }
}

/** No database: what the runner is not told it cannot give away. */
export async function chooseRunnerEnv(own: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv> {
  const { DATABASE_URL: _, ENVIRONMENT_KEYS: __, ...inherited } = process.env
  const chosen = {
    SANDBOX: chooseSandbox(inherited),
    VALS_HOST: '127.0.0.1',
    RUNNER_STATUS_PORT: String(await findFreePort()),
    RUNNER_FOLDER: runnerState,
  }
  return { ...inherited, ...chosen, ...own }
}
