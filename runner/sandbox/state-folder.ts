import { mkdir, rm } from 'node:fs/promises'
import { createConnection, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { SandboxError } from './sandbox-error.ts'

/** A longer path cannot be the address of a unix socket; the kernel's own bound is 108 bytes with the final zero. */
const socketPathBytesMax = 103
const triesMax = 3
export const lockName = 'lock.sock'

export interface StateFolder extends AsyncDisposable {
  readonly path: string
}

/**
 * Takes the folder for this process alone. The lock is a listening socket: the kernel closes it with the process,
 * however that ends, and what is left of it refuses connections.
 */
export async function lockStateFolder(path: string): Promise<StateFolder> {
  const address = join(path, lockName)
  refuseLongSocketPath(address)
  await mkdir(path, { recursive: true, mode: 0o700 })
  for (let tries = 1; tries <= triesMax; tries += 1) {
    const server = await listenOrNull(address)
    if (server) return { path, [Symbol.asyncDispose]: () => unlock(server) }
    if (await isFolderLocked(path)) break
    await rm(address, { force: true })
  }
  throw new SandboxError(`Another runner uses ${path}; give each runner a folder of its own.`)
}

/** Says it now, rather than with the kernel's bare EINVAL at the first sandbox. */
export function refuseLongSocketPath(address: string): void {
  if (Buffer.byteLength(address) > socketPathBytesMax) {
    throw new SandboxError(
      `${address} is too long for a socket; choose a shorter folder for the sandboxes' state.`,
    )
  }
}

async function listenOrNull(address: string): Promise<Server | null> {
  const server = createServer((connection) => connection.destroy())
  const { promise, resolve, reject } = Promise.withResolvers<Server | null>()
  server.once('error', (error: NodeJS.ErrnoException) =>
    error.code === 'EADDRINUSE' ? resolve(null) : reject(error),
  )
  server.listen(address, () => resolve(server.unref()))
  return promise
}

export async function isFolderLocked(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const connection = createConnection(join(path, lockName), () => resolve(true))
  connection.once('error', () => resolve(false))
  try {
    return await promise
  } finally {
    connection.destroy()
  }
}

async function unlock(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  server.close(() => resolve())
  await promise
}
