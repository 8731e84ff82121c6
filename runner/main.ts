import { ConfigError, readConfig } from './config.ts'
import { createObservations } from './observations.ts'
import { startRunner } from './start-runner.ts'

const stopSignals = ['SIGTERM', 'SIGINT'] as const

await run()

async function run() {
  const config = readConfigOrExplain()
  if (config === null) return
  const observe = createObservations(config.logLevel)
  try {
    await using runner = await startRunner(config, observe)
    observe.listening(runner.url, process.pid)
    await stopSignal()
  } catch (error) {
    observe.startFailed(error)
    process.exitCode = 1
  }
  observe.stopped()
}

function readConfigOrExplain() {
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
