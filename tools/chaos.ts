import { runChaos } from './chaos/run-chaos.ts'
import { readSettings } from './chaos/settings.ts'
import { runMain } from './processes/run-main.ts'

const problemsShownMax = 50

/** `npm run chaos -- [--seconds 600] [--seed N] [--nats 1|3] [--logs FOLDER]`. The same seed strikes the same again. */
async function main(end: AbortSignal): Promise<number> {
  const settings = readSettings(process.argv.slice(2))
  const problems = await runChaos(settings, end)
  for (const problem of problems.slice(0, problemsShownMax)) console.error(problem)
  if (problems.length > problemsShownMax) console.error(`… ${problems.length} in all.`)
  console.log(problems.length === 0 ? 'Nothing is wrong.' : `Seed ${settings.seed}: not well.`)
  return problems.length === 0 ? 0 : 1
}

await runMain(main)
