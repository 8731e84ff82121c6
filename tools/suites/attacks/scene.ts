import { networkInterfaces } from 'node:os'
import { nameSlot, type RunnerNames } from '@valley/runner/sandbox/runner-names.ts'
import { findRunner } from '@valley/runner/sandbox/testing/find-traces.ts'
import { type Client, createClient } from '@valley/sdk/client.ts'
import type { Places } from '../../attacks/attack.ts'
import { findFreePort } from '../../services/find-free-port.ts'
import { openTemporaryFolder } from '../../services/open-temporary-folder.ts'
import { openWorld, type World } from '../../world/open-world.ts'
import { type Canaries, openCanaries } from './canaries.ts'
import { callVal, type ValAddress } from './call-val.ts'
import { Neighbour, neighbourCode } from './neighbour.ts'
import { countVisits, seeThatItHears, siblingCode } from './sibling.ts'
import { openStandIn, type StandIn } from './stand-in.ts'

/** Few enough to try them all, more than there are while the siblings are attacked. */
const siblingsTried = 16
/** So that workers of earlier attacks are gone soon; nothing else differs from a runner as shipped. */
const warmIdleSeconds = 15

export interface Scene extends AsyncDisposable {
  readonly world: World
  /** Alice attacks; the neighbour and the sibling are Bob's. */
  readonly alice: Client
  readonly canaries: Canaries
  readonly standIn: StandIn
  readonly neighbour: Neighbour
  readonly neighbourAddress: ValAddress
  readonly places: Places
  /** What the runner's things are called; null where sandboxes are plain processes. */
  readonly names: RunnerNames | null
  readonly addressOf: (label: string) => ValAddress
  /** In words: who was reached that must not be. Keeps the sibling alive, too. */
  readonly findHarm: () => Promise<string[]>
}

export async function openScene({ sandbox }: { sandbox: string }): Promise<Scene> {
  await using stack = new AsyncDisposableStack()
  const standIn = stack.use(await openStandIn())
  const folder = stack.use(await openTemporaryFolder()).path
  const canaries = stack.use(await openCanaries(folder))
  const world = stack.use(await openAttackedWorld({ sandbox, canaries, standIn }))
  const addressOf = (label: string) => ({ port: portOf(world.valsUrl), host: `${label}.localhost` })
  const names = sandbox === 'process' ? null : await findRunner(world.runnerStateFolder)
  const siblingPort = await findFreePort()
  await settleBob(world, { siblingPort, secret: canaries.secrets[0] ?? '' })
  const places: Places = {
    ...networkPlaces(names),
    siblingPort,
    canaryPort: canaries.port,
    ports: portsOf(world),
    standIn,
    canaryFiles: canaries.files,
    runnerPid: world.runner?.pid ?? 0,
  }
  const findHarm = await watchTheForbidden({ standIn, canaries, places, sibling: addressOf('bob--sibling') })
  const neighbourAddress = addressOf('bob--neighbour')
  await callVal(neighbourAddress)
  const caller = { apiUrl: world.url, token: world.tokens.bob }
  const neighbour = stack.use(new Neighbour(neighbourAddress, caller))
  const opened = stack.move()
  return {
    world,
    alice: createClient({ baseUrl: world.url, token: world.tokens.alice }),
    canaries,
    standIn,
    neighbour,
    neighbourAddress,
    places,
    names,
    addressOf,
    findHarm,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

async function settleBob(world: World, { siblingPort, secret }: { siblingPort: number; secret: string }) {
  const bob = createClient({ baseUrl: world.url, token: world.tokens.bob })
  await bob.me.env.set('SECRET_OF_BOB', secret)
  await bob.vals.put({ name: 'neighbour', type: 'http', code: neighbourCode })
  await bob.vals.put({ name: 'sibling', type: 'http', code: siblingCode(siblingPort) })
}

interface Forbidden {
  readonly standIn: StandIn
  readonly canaries: Canaries
  readonly places: Places
  readonly sibling: ValAddress
}

async function watchTheForbidden({
  standIn,
  canaries,
  places,
  sibling,
}: Forbidden): Promise<Scene['findHarm']> {
  const { siblingAddresses: addresses, siblingPort: port } = places
  const visitsOfOurs = addresses.length > 0 ? await seeThatItHears(sibling, { addresses, port }) : 0
  return async () => {
    const visits = (await countVisits(sibling)) - visitsOfOurs
    const inside = [standIn.privateAddress, standIn.linkLocalAddress]
    return [
      ...canaries.findHarm(),
      ...inside.filter((address) => standIn.countAt(address) > 0).map((address) => `${address} was reached`),
      ...(visits > 0 ? [`the sibling was reached ${visits} times`] : []),
    ]
  }
}

interface Surroundings {
  readonly sandbox: string
  readonly canaries: Canaries
  readonly standIn: StandIn
}

function openAttackedWorld({ sandbox, canaries, standIn }: Surroundings): Promise<World> {
  return openWorld({
    durable: false,
    serverEnv: { RATE_LIMIT_PER_MINUTE: '1000000', ...canaries.environment },
    runnerEnv: {
      SANDBOX: sandbox,
      ...canaries.environment,
      EGRESS_RESOLVERS: standIn.publicAddress,
      WARM_IDLE_SECONDS: String(warmIdleSeconds),
    },
  })
}

function networkPlaces(names: RunnerNames | null) {
  const external = Object.values(networkInterfaces())
    .flat()
    .find((address) => address?.family === 'IPv4' && !address.internal)
  const hostAddress = external?.address ?? '127.0.0.1'
  // Plain processes have no addresses of their own.
  if (names === null) return { hostAddress, gateway: '127.0.0.1', siblingAddresses: [] }
  const slots = Array.from({ length: siblingsTried }, (_, slot) => nameSlot(names, slot).addressIpv4)
  return { hostAddress, gateway: names.gatewayIpv4, siblingAddresses: slots }
}

function portsOf({ services, url, valsUrl, runnerStatusUrl }: World): Places['ports'] {
  return {
    postgres: portOf(services.databaseUrl),
    nats: portOf(services.natsUrl),
    api: portOf(url),
    edge: portOf(valsUrl),
    status: portOf(runnerStatusUrl),
  }
}

function portOf(address: string): number {
  return Number(new URL(address).port)
}
