import {
  DiscardPolicy,
  JetStreamApiError,
  jetstreamManager,
  type JetStreamManager,
  RetentionPolicy,
  StorageType,
} from '@nats-io/jetstream'
import { type NatsConnection, nanos } from '@nats-io/transport-node'
import { limits } from './limits.ts'
import { type StreamName, type StreamPlan, streams } from './streams.ts'

/** NATS's own number for that error. */
const streamNameInUse = 10_058

/** Makes the streams that are missing and mends those that are not as planned. Any process may, at any time. */
export async function ensureStreams(connection: NatsConnection, replicas: number): Promise<void> {
  const manager = await openManager(connection)
  for (const name of Object.keys(streams) as StreamName[]) await ensureStream(manager, name, replicas)
}

export async function openManager(connection: NatsConnection): Promise<JetStreamManager> {
  return jetstreamManager(connection, { checkAPI: false, timeout: limits.manageTimeoutMs })
}

/** An update leaves alone what an operator may have set and we have no opinion on: replicas, if we want only one. */
async function ensureStream(manager: JetStreamManager, name: StreamName, replicas: number): Promise<void> {
  const config = { ...configOf(streams[name]), ...(replicas > 1 && { num_replicas: replicas }) }
  try {
    await manager.streams.add({ name, ...config })
  } catch (error) {
    if (!isThereOtherwise(error)) throw error
    await manager.streams.update(name, config)
  }
}

/** Of that name there is one, with other settings. */
function isThereOtherwise(error: unknown): boolean {
  return error instanceof JetStreamApiError && error.code === streamNameInUse
}

function configOf({ subject, storage, bytesMax, ageMaxMs, keeps, whenFull }: StreamPlan) {
  return {
    subjects: [subject],
    storage: storage === 'disk' ? StorageType.File : StorageType.Memory,
    retention: keeps === 'untilDealtWith' ? RetentionPolicy.Workqueue : RetentionPolicy.Limits,
    max_bytes: bytesMax,
    max_age: nanos(ageMaxMs),
    discard: whenFull === 'refuse' ? DiscardPolicy.New : DiscardPolicy.Old,
    duplicate_window: nanos(limits.duplicatesKnownMs),
  }
}
