import { runInTerminal } from './processes/run-in-terminal.ts'
import { runMain } from './processes/run-main.ts'

interface Step {
  name: string
  command: readonly [string, ...string[]]
}

const steps: readonly Step[] = [
  { name: 'format', command: ['oxfmt', '--check'] },
  { name: 'lint', command: ['oxlint', '--type-aware', '--deny-warnings'] },
  { name: 'types', command: ['tsc', '--noEmit'] },
  { name: 'openapi', command: ['node', 'contract/write-openapi.ts', '--check'] },
  { name: 'repository', command: ['node', 'tools/repository-check.ts'] },
  { name: 'tests', command: ['node', 'tools/test.ts'] },
]

interface Result {
  name: string
  passed: boolean
  seconds: string
}

/** `npm run check`: all that CI runs, to the end, so that one look shows everything that is wrong. */
async function main(end: AbortSignal): Promise<number> {
  const results: Result[] = []
  for (const step of steps) results.push(await runStep(step, end))
  console.log('')
  for (const { name, passed, seconds } of results) {
    console.log(`${passed ? 'ok    ' : 'FAILED'}  ${name.padEnd(12)} ${seconds.padStart(6)} s`)
  }
  return results.every(({ passed }) => passed) ? 0 : 1
}

async function runStep({ name, command: [program, ...args] }: Step, end: AbortSignal): Promise<Result> {
  console.log(`\n── ${name}: ${[program, ...args].join(' ')}`)
  const startedAt = performance.now()
  const code = await runInTerminal(program, args, { end })
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  return { name, passed: code === 0, seconds }
}

await runMain(main)
