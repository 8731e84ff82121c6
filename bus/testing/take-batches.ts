import type { Bus } from '../connect-bus.ts'
import type { StreamBody } from '../streams.ts'

/** Takes and accepts all reports, as a recorder that writes nothing down. */
export function takeBatches(bus: Bus, take: (batch: StreamBody<'RUNS'>) => void): AsyncDisposable {
  return bus.consume({
    stream: 'RUNS',
    name: 'recorder',
    take: async (messages) => {
      for (const message of messages) {
        take(message.json() as StreamBody<'RUNS'>)
        message.accept()
      }
    },
  })
}
