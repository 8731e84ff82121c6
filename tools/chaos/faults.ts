import { setTimeout as sleep } from 'node:timers/promises'
import { signalTree } from '../processes/signal-tree.ts'
import { runSql } from '../services/run-sql.ts'
import type { Service } from '../services/service.ts'
import type { NatsNode } from '../services/start-nats-cluster.ts'
import type { Fleet, Member } from '../world/open-fleet.ts'
import type { Lives } from './lives.ts'
import type { Random } from './random.ts'

const awayMsMin = 500
const awayMsMax = 8_000
const pausedMsMin = 1_000
const pausedMsMax = 15_000
const fullMsMin = 2_000
const fullMsMax = 8_000
const partitionedMsMin = 3_000
const partitionedMsMax = 20_000

/** Something that breaks and is mended again. */
export interface Fault {
  readonly name: string
  /** Two faults at the same time have different targets. */
  readonly target: string
  readonly strike: (random: Random) => Promise<void>
}

/** Everything that may happen to a fleet; to one with a cluster of NATS, what that is there for. */
export function faultsOf(fleet: Fleet, lives: Lives): readonly Fault[] {
  const { cluster, disk, nodes } = fleet.nats
  if (cluster !== null) return faultsOfCluster(cluster)
  const members = [...fleet.servers, ...fleet.runners]
  return [
    ...members.flatMap((member) => faultsOfMember(member, lives)),
    ...faultsOfPostgres(fleet),
    ...nodes.flatMap((node) => faultsOfService('nats', node)),
    ...(disk === null ? [] : nodes.map((node) => fullDisk(disk, node))),
  ]
}

function faultsOfMember(member: Member, lives: Lives): readonly Fault[] {
  const { name, process: running, ways } = member
  const kill = async (random: Random) => {
    await lives.kill(member)
    await sleep(random.between(awayMsMin, awayMsMax))
    await lives.startAgain(member)
  }
  const pause = async (random: Random) => {
    const { pid } = running
    process.kill(pid, 'SIGSTOP')
    await sleep(random.between(pausedMsMin, pausedMsMax))
    process.kill(pid, 'SIGCONT')
  }
  const cut = async (random: Random) => {
    for (const way of ways) await way.cut()
    await sleep(random.between(awayMsMin, awayMsMax))
    for (const way of ways) await way.mend()
  }
  return [
    { name: `${name} killed`, target: name, strike: kill },
    { name: `${name} paused`, target: name, strike: pause },
    ...(ways.length === 0 ? [] : [{ name: `${name} cut off`, target: name, strike: cut }]),
  ]
}

function faultsOfPostgres({ postgres, databaseUrl }: Fleet): readonly Fault[] {
  const cut = async () => {
    await runSql(
      databaseUrl,
      "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'valley'",
    )
  }
  return [
    ...faultsOfService('postgres', postgres),
    { name: 'postgres connections ended', target: 'postgres', strike: cut },
  ]
}

function faultsOfService(name: string, service: Service): readonly Fault[] {
  const pause = async (random: Random) => {
    const { pid } = service
    signalTree(pid, 'SIGSTOP')
    await sleep(random.between(pausedMsMin, pausedMsMax))
    signalTree(pid, 'SIGCONT')
  }
  return [
    { name: `${name} killed`, target: name, strike: async (random) => killService(service, random) },
    { name: `${name} paused`, target: name, strike: pause },
  ]
}

async function killService(service: Service, random: Random): Promise<void> {
  await service.kill()
  await sleep(random.between(awayMsMin, awayMsMax))
  await service.restart()
}

/** One node at a time: a cluster of three bears the loss of one. */
function faultsOfCluster(nodes: readonly NatsNode[]): readonly Fault[] {
  const partition = async (random: Random) => {
    const node = random.pick(nodes)
    await node.partition()
    await sleep(random.between(partitionedMsMin, partitionedMsMax))
    await node.heal()
  }
  const kill = async (random: Random) => killService(random.pick(nodes), random)
  return [
    { name: 'a NATS node killed', target: 'nats', strike: kill },
    { name: 'a NATS node partitioned', target: 'nats', strike: partition },
  ]
}

/** NATS 2.9 stands still once it could not write, and does not even stop: whoever made room has to kill it. */
function fullDisk(disk: NonNullable<Fleet['nats']['disk']>, node: Service): Fault {
  const strike = async (random: Random) => {
    await disk.fill()
    await sleep(random.between(fullMsMin, fullMsMax))
    await disk.free()
    await node.kill()
    await node.restart()
  }
  return { name: 'nats disk full', target: 'nats', strike }
}
