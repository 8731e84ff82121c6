import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { openMachine } from '@valley/runner/sandbox/testing/open-machine.ts'
import { findBinary } from '../processes/find-binary.ts'
import { sweepNetworks } from '../services/sweep-networks.ts'

const program = fileURLToPath(new URL('counter-program.ts', import.meta.url))

/** Counts executions from outside of everything that is tested: vals tell it themselves, over the network. */
export interface Counter extends AsyncDisposable {
  /** What a val calls, with its run's id and something of this execution's own behind it. */
  readonly url: string
  /** By run: what each of its executions called itself. */
  readonly executions: ReadonlyMap<string, ReadonlySet<string>>
}

/** On an address that vals take for one of the internet: a machine of its own behind a cable. Needs root. */
export async function openCounter(): Promise<Counter> {
  await using stack = new AsyncDisposableStack()
  await sweepNetworks(names)
  const address = await openOwnMachine(stack)
  const enter = [`--net=/run/netns/${namespace}`, process.execPath, program]
  const leashed = ['--pdeathsig', 'KILL', findBinary('nsenter'), ...enter]
  const child = spawn(findBinary('setpriv'), leashed, { stdio: ['ignore', 'pipe', 'inherit'] })
  stack.defer(() => void child.kill('SIGKILL'))
  const lines = createInterface(child.stdout)
  await once(lines, 'line')
  const executions = new Map<string, Set<string>>()
  lines.on('line', (line) => {
    const [runId = '', nonce = ''] = line.split(' ')
    const known = executions.get(runId)
    if (known === undefined) executions.set(runId, new Set([nonce]))
    else known.add(nonce)
  })
  const opened = stack.move()
  return {
    url: `http://${address}`,
    executions,
    [Symbol.asyncDispose]: async () => opened.disposeAsync(),
  }
}

const names = { namespace: 'valley-counter-', link: 'vcount' }
const namespace = `${names.namespace}${process.pid}`

/** A network for documentation, cut into small ones, so that several can be open at once. */
async function openOwnMachine(stack: AsyncDisposableStack): Promise<string> {
  const first = (process.pid % 63) * 4
  const [gateway, address] = [`203.0.113.${first + 1}`, `203.0.113.${first + 2}`]
  const link = `${names.link}${process.pid}`
  stack.use(await openMachine({ namespace, link, gateway, address, prefixBits: 30 }))
  return address
}
