import { runProcess } from '@valley/process/run-process.ts'
import { readConfig } from './config.ts'
import { createObservations } from './observations.ts'
import { startRunner } from './start-runner.ts'

await runProcess({
  readConfig,
  createObservations: ({ logLevel }) => createObservations(logLevel),
  start: startRunner,
})
