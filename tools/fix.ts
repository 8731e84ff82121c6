import { runInTerminal } from './processes/run-in-terminal.ts'
import { runMain } from './processes/run-main.ts'

const commands: readonly (readonly [string, ...string[]])[] = [
  ['oxlint', '--fix'],
  ['node', 'contract/write-openapi.ts'],
  ['oxfmt'],
]

/** `npm run fix`: what can be put right without thought. Formatting comes last, after the other edits. */
async function main(end: AbortSignal): Promise<number> {
  const codes: number[] = []
  for (const [program, ...args] of commands) codes.push(await runInTerminal(program, args, { end }))
  return codes.every((code) => code === 0) ? 0 : 1
}

await runMain(main)
