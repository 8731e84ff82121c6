import { once } from 'node:events'
import { chmod } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import path from 'node:path'
import { limits } from '../limits.ts'
import type { Sandbox, SandboxDriver } from '../sandbox/sandbox.ts'
import { ControlChannel } from './control-channel.ts'
import { Worker, type WorkerWatcher } from './worker.ts'

let count = 0

/** Starts a sandbox and waits until the program in it says that it is ready. Throws with what it printed otherwise. */
export async function bootWorker(driver: SandboxDriver, watcher: WorkerWatcher): Promise<Worker> {
  const id = `w${process.pid.toString(36)}-${(count++).toString(36)}`
  const server = createServer()
  const connected = once(server, 'connection') as Promise<[Socket]>
  // Whoever waits for it below hears of a failure; nobody else has to.
  connected.catch(() => undefined)
  let sandbox: Sandbox | null = null
  try {
    sandbox = await driver.start(id, ({ socketFolder }) =>
      listen(server, path.join(socketFolder, 'control.sock')),
    )
    return await meet(sandbox, connected, watcher)
  } catch (error) {
    await sandbox?.remove()
    throw error
  } finally {
    // One connection is all that is taken: a second one could only be the val's.
    server.close()
  }
}

/** Whoever may enter the folder may connect: that is the one sandbox, whose user is not ours. */
async function listen(server: Server, file: string): Promise<void> {
  server.listen(file)
  await once(server, 'listening')
  await chmod(file, 0o666)
}

async function meet(sandbox: Sandbox, connected: Promise<[Socket]>, watcher: WorkerWatcher): Promise<Worker> {
  const timeout = AbortSignal.timeout(limits.bootTimeoutMs)
  const ready = Promise.withResolvers<Worker>()
  const fail = (what: string) => ready.reject(new Error(`A sandbox ${what}: ${sandbox.recentOutput()}`))
  timeout.addEventListener('abort', () => fail(`was not ready after ${limits.bootTimeoutMs} ms`))
  void sandbox.ended.then((end) => fail(`ended while it booted (${end})`))
  void connected.then(([socket]) => {
    let worker: Worker | null = null
    const control = new ControlChannel(socket, {
      onMessage: (message) => {
        if (worker !== null) return worker.hear(message)
        worker = new Worker({ sandbox, control, watcher })
        return ready.resolve(worker)
      },
      onNonsense: () => worker?.end('spoke_nonsense') ?? fail('spoke nonsense'),
      onClose: () => worker?.lostControl() ?? fail('hung up while it booted'),
    })
  })
  return ready.promise
}
