import { killAll, type Program } from '../processes/leftovers.ts'
import type { RunningProcess } from '../processes/running-process.ts'

/** A server of someone else's making that we start, stop and, in fault tests, kill. */
export interface Service extends AsyncDisposable {
  readonly url: string
  readonly port: number
  readonly pid: number
  /** Ends it in order. Stopping twice is fine. */
  stop(): Promise<void>
  /** SIGKILL to it and to every process that it started; returns once all of them are gone. */
  kill(): Promise<void>
  /** Starts it again in the same folder on the same port, after stopping it where it still runs. */
  restart(): Promise<void>
}

interface Launch {
  url: string
  port: number
  program: Program
  launch: () => Promise<RunningProcess>
}

export async function startService({ url, port, program, launch }: Launch): Promise<Service> {
  let running = await launch()

  async function stop() {
    await running.stop()
  }

  return {
    url,
    port,
    get pid() {
      return running.pid
    },
    stop,
    async kill() {
      running.signal('SIGKILL')
      await killAll(program)
      await running.ended
    },
    async restart() {
      await stop()
      running = await launch()
    },
    [Symbol.asyncDispose]: stop,
  }
}
