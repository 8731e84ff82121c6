import { ConfigError } from './parse-env.ts'

interface Lifecycle {
  readonly listening: (url: string, pid: number) => void
  readonly startFailed: (cause: unknown) => void
  readonly stopped: () => void
}

interface ProcessPlan<Config, Observe extends Lifecycle> {
  readonly readConfig: () => Config
  readonly createObservations: (config: Config) => Observe
  readonly start: (config: Config, observe: Observe) => Promise<AsyncDisposable & { readonly url: string }>
}

const stopSignals = ['SIGTERM', 'SIGINT'] as const

/** Configuration, start, then the wait for a signal; after it everything is closed in order, and the process ends by itself. */
export async function runProcess<Config, Observe extends Lifecycle>(
  plan: ProcessPlan<Config, Observe>,
): Promise<void> {
  const config = readConfigOrExplain(plan.readConfig)
  if (config === null) return
  const observe = plan.createObservations(config)
  try {
    await using running = await plan.start(config, observe)
    observe.listening(running.url, process.pid)
    await stopSignal()
  } catch (error) {
    observe.startFailed(error)
    process.exitCode = 1
  }
  observe.stopped()
}

function readConfigOrExplain<Config>(readConfig: () => Config): Config | null {
  try {
    return readConfig()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exitCode = 1
    return null
  }
}

function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of stopSignals) process.once(signal, () => resolve())
  })
}
