import { runProcess } from '@valley/process/run-process.ts'
import { readConfig } from './config.ts'
import { createObservations } from './observations.ts'
import { startServer } from './start-server.ts'

await runProcess({
  readConfig,
  createObservations: ({ logLevel }) => createObservations(logLevel),
  start: startServer,
})
