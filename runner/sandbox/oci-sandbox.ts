import { type ChildProcess, spawn } from 'node:child_process'
import { chown, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  emptyCgroup,
  killCgroup,
  hasRunOutOfMemory,
  readCgroupCpuMs,
  readCgroupMemoryBytes,
  removeCgroup,
} from './cgroups.ts'
import { buildOciConfig } from './oci-config.ts'
import type { Gate } from './gate.ts'
import type { OciRuntime } from './oci-runtime.ts'
import { RecentOutput } from './recent-output.ts'
import { insidePlaces } from './rootfs.ts'
import { commandEnvironment } from './run-command.ts'
import type { RunnerNames } from './runner-names.ts'
import type { SandboxObservations } from './sandbox-observations.ts'
import type { SandboxOptions } from './sandbox-options.ts'
import type { Sandbox, SandboxDriver, SandboxEnd } from './sandbox.ts'
import type { Slot, Slots } from './slots.ts'

const startTimeoutMs = 20_000
const endTimeoutMs = 10_000

export interface OciHost {
  readonly runtime: OciRuntime
  readonly options: SandboxOptions
  readonly names: RunnerNames
  readonly slots: Slots
  readonly observe: SandboxObservations
  readonly sandboxes: Map<string, Sandbox>
  readonly removals: Gate
}

export async function startOciSandbox(
  host: OciHost,
  id: string,
  listen: Parameters<SandboxDriver['start']>[1],
): Promise<Sandbox> {
  const slot = await host.slots.take()
  const place: Place = { host, id, slot, cgroup: join(host.names.cgroup, id) }
  const output = new RecentOutput()
  try {
    await writeFile(join(slot.bundleFolder, 'config.json'), JSON.stringify(buildConfig(place)))
    await listen(slot)
    await giveSockets(slot)
    const runtime = await spawnRuntime(place)
    const { sandbox, started } = followSandbox(place, runtime, output)
    await started
    host.sandboxes.set(id, sandbox)
    return sandbox
  } catch (error) {
    await removeRemains(place).catch((cause: unknown) => host.observe.removalFailed(id, cause))
    throw new Error(`Sandbox ${id} did not start. ${output.read()}`.trim(), { cause: error })
  }
}

interface Place {
  readonly host: OciHost
  readonly id: string
  readonly slot: Slot
  readonly cgroup: string
}

function buildConfig({ host, slot, cgroup }: Place) {
  const { limits, bootstrap } = host.options
  const { namespacePath, rootUserId, userId } = slot.names
  return buildOciConfig({
    rootfs: join(host.names.runFolder, 'rootfs'),
    socketFolder: slot.socketFolder,
    valFolder: slot.valFolder,
    networkNamespace: namespacePath,
    cgroup: `/${cgroup}`,
    rootUserId,
    userId,
    limits,
    entry: bootstrap.entry,
  })
}

/** Who connects to a socket must be able to write to it. */
async function giveSockets({ socketFolder, names }: Slot): Promise<void> {
  for (const name of await readdir(socketFolder)) {
    await chown(join(socketFolder, name), names.userId, names.userId)
  }
}

/**
 * Detached: the runtime sets the sandbox up and ends; no process of it stays. What it was given as standard output
 * and error stays open as long as anybody in the sandbox lives, which is how the end is noticed.
 */
async function spawnRuntime({ host, id, slot, cgroup }: Place): Promise<ChildProcess> {
  const { runtime } = host
  const records = ['--root', recordsFolderOf(host)]
  const args = [...records, ...runtime.options, 'run', '--detach', '--bundle', slot.bundleFolder, id]
  const [program = '', ...rest] = await runtime.wrapStart(args, { cgroup, limits: host.options.limits })
  return spawn(program, rest, { env: commandEnvironment, stdio: ['ignore', 'pipe', 'pipe'] })
}

function recordsFolderOf({ options }: OciHost): string {
  return join(options.folder, 'containers')
}

function followSandbox(place: Place, runtime: ChildProcess, output: RecentOutput) {
  const { host, id, slot, cgroup } = place
  if (runtime.stdout) output.follow(runtime.stdout)
  if (runtime.stderr) output.follow(runtime.stderr)
  const { promise: ended, resolve } = Promise.withResolvers<SandboxEnd>()
  let killed = false
  runtime.once('close', () => {
    void hasRunOutOfMemory(cgroup).then((outOfMemory) => {
      if (outOfMemory || output.tellsOfFullHeap()) resolve('out_of_memory')
      else resolve(killed ? 'killed' : 'exited')
    })
  })
  let removal: Promise<void> | null = null
  const sandbox: Sandbox = {
    id,
    socketFolder: slot.socketFolder,
    valFolder: slot.valFolder,
    inside: insidePlaces,
    recentOutput: () => output.read(),
    ended,
    readMemoryBytes: () => readCgroupMemoryBytes(cgroup),
    readCpuMs: () => readCgroupCpuMs(cgroup),
    remove: () => {
      killed = true
      removal ??= removeSandbox(place, ended).finally(() => host.sandboxes.delete(id))
      return removal
    },
  }
  return { sandbox, started: waitForStart(runtime) }
}

async function waitForStart(runtime: ChildProcess): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const timer = setTimeout(() => runtime.kill('SIGKILL'), startTimeoutMs)
  runtime.once('error', reject)
  runtime.once('exit', (code, signal) => {
    if (code === 0) resolve()
    else reject(new Error(`The runtime ended with ${code ?? signal}.`))
  })
  await promise.finally(() => clearTimeout(timer))
}

async function removeSandbox(place: Place, ended: Promise<SandboxEnd>): Promise<void> {
  try {
    await killCgroup(place.cgroup)
    const timer = setTimeout(() => timeout.reject(new Error('Its output stays open.')), endTimeoutMs)
    const timeout = Promise.withResolvers<never>()
    await Promise.race([ended, timeout.promise]).finally(() => clearTimeout(timer))
    await removeRemains(place)
  } catch (error) {
    // Its slot is never given to another; the next opening, or disposal, removes what is left.
    place.host.observe.removalFailed(place.id, error)
  }
}

async function removeRemains({ host, id, slot, cgroup }: Place): Promise<void> {
  await emptyCgroup(cgroup)
  await host.removals.run(() => host.runtime.forget({ id, recordsFolder: recordsFolderOf(host) }))
  await removeCgroup(cgroup)
  await host.slots.giveBack(slot)
}
