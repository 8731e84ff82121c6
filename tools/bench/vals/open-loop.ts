import { Agent, request } from 'node:http'

export interface OpenLoad {
  readonly port: string
  /** The n-th request's Host header. */
  readonly hostOf: (n: number) => string
  readonly perSecond: number
  readonly seconds: number
}

/**
 * Requests at fixed times, whether or not earlier ones were answered: how long each took. Between them the generator
 * sleeps, to the millisecond, because one that spun would take a core from what is measured.
 */
export async function runOpenLoop({ port, hostOf, perSecond, seconds }: OpenLoad): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 })
  const count = perSecond * seconds
  const times: number[] = []
  const { promise: done, resolve, reject } = Promise.withResolvers<void>()
  const startedAtMs = performance.now() + 50
  let sent = 0
  const pump = () => {
    while (sent < count && startedAtMs + (sent * 1_000) / perSecond <= performance.now()) {
      const sentAtMs = performance.now()
      const host = hostOf(sent++)
      send(host, () => {
        times.push(performance.now() - sentAtMs)
        if (times.length === count) resolve()
      })
    }
    if (sent < count) setTimeout(pump, 1)
  }
  const send = (host: string, onAnswer: () => void) => {
    const call = request({ host: '127.0.0.1', port, agent, headers: { host } }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`answered ${response.statusCode}`))
      response.resume().on('end', onAnswer)
    })
    call.on('error', reject)
    call.end()
  }
  pump()
  await done
  agent.destroy()
  return times
}
