import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { ownPortMax, ownPortMin, portAttemptsMax } from './limits.ts'

export async function findFreePort(): Promise<number> {
  for (let attempt = 0; attempt < portAttemptsMax; attempt++) {
    const port = randomInt(ownPortMin, ownPortMax + 1)
    if (await isPortFree(port)) return port
  }
  throw new Error(`No free port found between ${ownPortMin} and ${ownPortMax}.`)
}

export async function isPortFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  const server = createServer().listen({ port, host, exclusive: true })
  try {
    await once(server, 'listening')
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return false
    throw error
  } finally {
    server.close()
  }
}
