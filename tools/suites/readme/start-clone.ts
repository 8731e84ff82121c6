import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { repositoryFolder } from '../../repository.ts'
import { findFreePort } from '../../services/find-free-port.ts'

const run = promisify(execFile)
const installTimeoutMs = 300_000
const startTimeoutMs = 60_000

export interface StartedClone extends AsyncDisposable {
  readonly folder: string
  readonly env: Readonly<Record<'VALLEY_URL' | 'VALLEY_TOKEN', string>>
  /** Ctrl-C: the exit code that follows. */
  interrupt(): Promise<number | null>
}

/** What a stranger does first: clone, `npm ci`, `npm start`, and copy the two lines that it prints. */
export async function startClone(): Promise<StartedClone> {
  await using opened = new AsyncDisposableStack()
  const folder = await mkdtemp(path.join(tmpdir(), 'valley-clone-'))
  opened.defer(() => rm(folder, { recursive: true, force: true }))
  await run('git', ['clone', '--quiet', repositoryFolder, folder])
  await run('npm', ['ci', '--prefer-offline', '--no-audit'], { cwd: folder, timeout: installTimeoutMs })
  const child = spawn('npm', ['start'], {
    cwd: folder,
    detached: true,
    env: { ...strangersEnv(), ...(await freePorts()) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit') as Promise<[number | null]>
  const interrupt = async () => {
    if (child.exitCode === null && child.pid) process.kill(-child.pid, 'SIGINT')
    return (await exited)[0]
  }
  opened.defer(async () => void (await interrupt()))
  const env = await readExports(child.stdout, child.stderr)
  const toClose = opened.move()
  return { folder, env, interrupt, [Symbol.asyncDispose]: () => toClose.disposeAsync() }
}

/** The ports that a stranger would have free; here other tests may have them. */
async function freePorts(): Promise<Record<string, string>> {
  const names = ['PORT', 'VALS_PORT', 'RUNNER_STATUS_PORT']
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, String(await findFreePort())])),
  )
}

/** Without what our own npm and tests have put into the environment. */
function strangersEnv(): NodeJS.ProcessEnv {
  const own = /^(npm_|NODE_|VALLEY_|DATABASE_URL|NATS_URL|TEST_|PUBLIC_URL|INIT_CWD)/
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !own.test(name)))
}

async function readExports(...outputs: readonly NodeJS.ReadableStream[]) {
  const found = { VALLEY_URL: '', VALLEY_TOKEN: '' }
  let text = ''
  return new Promise<typeof found>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`npm start printed no token:\n${text}`)), startTimeoutMs)
    for (const output of outputs) {
      output.on('data', (chunk: Buffer) => {
        text += chunk.toString()
        for (const [, name, value] of text.matchAll(/(VALLEY_URL|VALLEY_TOKEN)=(\S+)\s/g)) {
          found[name as keyof typeof found] = value ?? ''
        }
        if (found.VALLEY_URL === '' || found.VALLEY_TOKEN === '') return
        clearTimeout(timer)
        resolve(found)
      })
    }
  })
}
