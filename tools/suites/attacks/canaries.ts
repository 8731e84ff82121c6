import { randomUUID } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { findFreePort } from '../../services/find-free-port.ts'

/** What no val may ever learn, reach or change, and how we would notice. */
export interface Canaries extends AsyncDisposable {
  readonly secrets: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly files: readonly string[]
  readonly port: number
  /** In words; none when all is well. */
  readonly findHarm: () => string[]
}

export async function openCanaries(folder: string): Promise<Canaries> {
  const secrets = { file: `file-${randomUUID()}`, environment: `environment-${randomUUID()}` }
  const files = [path.join(tmpdir(), `valley-canary-${process.pid}`), path.join(folder, 'canary')]
  for (const file of files) await writeFile(file, secrets.file, { mode: 0o644 })
  const listener = await listen()
  return {
    secrets: Object.values(secrets),
    environment: { CANARY_SECRET: secrets.environment },
    files,
    port: listener.port,
    findHarm: () => [
      ...files
        .filter((file) => readFileSync(file, 'utf8') !== secrets.file)
        .map((file) => `${file} was changed`),
      ...findAttackedFiles(),
      ...listener.visits.map((visit) => `the canary was reached: ${visit}`),
    ],
    async [Symbol.asyncDispose]() {
      await listener.close()
      for (const file of files) await rm(file, { force: true })
    },
  }
}

/** The names under which hostile vals write. */
function findAttackedFiles(): string[] {
  const places = ['/', '/dev/shm', '/etc', tmpdir()]
  return places.flatMap((place) =>
    readdirSync(place)
      .filter((name) => name === 'attacked')
      .map((name) => `${path.join(place, name)} was written`),
  )
}

async function listen() {
  const port = await findFreePort()
  const visits: string[] = []
  const server = createServer((socket) => {
    visits.push(`tcp from ${socket.remoteAddress ?? 'somewhere'}`)
    socket.on('error', () => socket.destroy())
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n', () => socket.destroy())
  })
  server.listen(port, '::')
  await once(server, 'listening')
  const datagrams = createSocket('udp6')
  datagrams.on('message', (_, { address }) => visits.push(`udp from ${address}`))
  datagrams.bind(port)
  await once(datagrams, 'listening')
  await seeThatItCounts(port, visits)
  return {
    port,
    visits,
    close: async () => {
      datagrams.close()
      server.close()
      await once(server, 'close')
    },
  }
}

/** A canary that cannot sing would make every attack look failed. */
async function seeThatItCounts(port: number, visits: string[]): Promise<void> {
  const visitor = connect(port, '127.0.0.1')
  await once(visitor, 'data')
  visitor.destroy()
  if (visits.length !== 1) throw new Error('The canary did not notice a visit.')
  visits.length = 0
}
