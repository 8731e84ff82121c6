import { Socket } from 'node:net'
import { ControlChannel } from '../workers/control-channel.ts'
import type { EndCause } from '../workers/end-cause.ts'
import { Worker } from '../workers/worker.ts'

/** A worker without a process behind it, for what it decides by itself. */
export function createIdleWorker(onEnd: (worker: Worker, cause: EndCause) => void): Worker {
  const nobody = { onMessage: () => undefined, onNonsense: () => undefined, onClose: () => undefined }
  return new Worker({
    sandbox: {
      id: 'w',
      socketFolder: '/nowhere',
      valFolder: '/nowhere',
      inside: { socketFolder: '/nowhere', valFolder: '/nowhere' },
      recentOutput: () => '',
      ended: new Promise(() => undefined),
      readMemoryBytes: async () => null,
      readCpuMs: async () => null,
      remove: async () => undefined,
    },
    control: new ControlChannel(new Socket(), nobody),
    watcher: { onEnd },
  })
}
