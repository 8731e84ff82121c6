import { runInTerminal } from './processes/run-in-terminal.ts'
import { PlainError } from './processes/plain-error.ts'
import { runMain } from './processes/run-main.ts'
import { describeEnd, type ProcessEnd } from './processes/spawn-leashed.ts'
import { openWorld } from './world/open-world.ts'

/** `npm run world -- COMMAND …`: runs COMMAND against an empty world that is gone afterwards. */
async function main(end: AbortSignal): Promise<number> {
  const [command, ...args] = readCommand(process.argv.slice(2))
  const startedAt = performance.now()
  await using world = await openWorld({ signal: end })
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  console.error(
    `An empty world at ${world.url}, open after ${seconds} s. Server log: ${world.folder}/server.log`,
  )

  let serverEnd: ProcessEnd | null = null
  void world.server.ended.then((end) => (serverEnd = end))
  const code = await runInTerminal(command, args, { end, env: { ...process.env, ...world.env } })
  if (serverEnd === null) return code
  console.error(`The server ${describeEnd(serverEnd)} meanwhile:\n${world.server.recentLines.toString()}`)
  return code === 0 ? 1 : code
}

function readCommand(args: readonly string[]): readonly [string, ...string[]] {
  const [command, ...rest] = args
  if (command === undefined) throw new PlainError('Usage: npm run world -- COMMAND …')
  return rest.length === 0 && command.includes(' ') ? ['sh', '-c', command] : [command, ...rest]
}

await runMain(main)
