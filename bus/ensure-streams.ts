import {
  DiscardPolicy,
  jetstreamManager,
  type JetStreamManager,
  RetentionPolicy,
  StorageType,
} from '@nats-io/jetstream'
import { type NatsConnection, nanos } from '@nats-io/transport-node'
import { limits } from './limits.ts'
import { type StreamName, type StreamPlan, streams } from './streams.ts'

/** Makes the streams that are missing and mends those that are not as planned. Any process may, at any time. */
export async function ensureStreams(connection: NatsConnection): Promise<void> {
  const manager = await openManager(connection)
  for (const name of Object.keys(streams) as StreamName[]) await ensureStream(manager, name)
}

export async function openManager(connection: NatsConnection): Promise<JetStreamManager> {
  return jetstreamManager(connection, { checkAPI: false, timeout: limits.manageTimeoutMs })
}

/** An update leaves alone what an operator may have set and we have no opinion on, such as replicas. */
async function ensureStream(manager: JetStreamManager, name: StreamName): Promise<void> {
  const config = configOf(streams[name])
  try {
    await manager.streams.add({ name, ...config })
  } catch {
    await manager.streams.update(name, config)
  }
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
