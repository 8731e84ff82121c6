import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { makeParentCgroup } from './cgroups.ts'
import { findDenoBinary } from './deno-binary.ts'
import { openEgress } from './egress.ts'
import { openGate } from './gate.ts'
import { readRoutedRanges } from './host-network.ts'
import { requireHost } from './host-requirements.ts'
import { type OciHost, startOciSandbox } from './oci-sandbox.ts'
import type { OciRuntime } from './oci-runtime.ts'
import { makeRootfs, type RootfsContents } from './rootfs.ts'
import { runCommand } from './run-command.ts'
import { nameRunner, type RunnerNames, subnetIsFree } from './runner-names.ts'
import { claimRunnerNumber, releaseRunnerNumber } from './runner-number.ts'
import { SandboxError } from './sandbox-error.ts'
import type { SandboxObservations } from './sandbox-observations.ts'
import type { SandboxOptions } from './sandbox-options.ts'
import type { SandboxDriver } from './sandbox.ts'
import { openSlots } from './slots.ts'
import { lockStateFolder } from './state-folder.ts'
import { sweep } from './sweep.ts'

/** Removing is never urgent, and must not take the processors from what is. */
const removalsAtOnceMax = 2

/** Sandboxes by an OCI runtime. Opening removes what an earlier runner left in this folder, however it ended. */
export async function openOciDriver(
  runtime: OciRuntime,
  options: SandboxOptions,
  observe: SandboxObservations,
): Promise<SandboxDriver> {
  await requireHost(runtime.program)
  await using cleanup = new AsyncDisposableStack()
  const state = cleanup.use(await lockStateFolder(options.folder))
  const names = await claimNames(state.path)
  cleanup.defer(() => removeAll(names, state.path, observe))
  const swept = await sweep(names, state.path)
  if (swept.length > 0) observe.leftoversSwept(swept)
  await makeParentCgroup(names.cgroup)
  const egress = await openEgress(names, options.egress, observe)
  await mountRootfs(names, {
    folder: join(state.path, 'rootfs'),
    contents: { deno: findDenoBinary(), resolvers: egress.resolvers, bootstrap: options.bootstrap },
  })
  const slots = openSlots({
    folder: state.path,
    egress,
    runtimeTakesAddresses: runtime.takesAddresses,
  })
  const removals = openGate(removalsAtOnceMax)
  const host: OciHost = { runtime, options, names, slots, observe, removals, sandboxes: new Map() }
  return serveSandboxes(host, cleanup.move())
}

function serveSandboxes(host: OciHost, cleanup: AsyncDisposableStack): SandboxDriver {
  const starts = new Map<string, Promise<unknown>>()
  return {
    kind: host.runtime.program,
    start: async (id, listen) => {
      if (cleanup.disposed) throw new SandboxError('The runner is stopping; no sandbox starts any more.')
      if (starts.has(id) || host.sandboxes.has(id))
        throw new SandboxError(`There is a sandbox ${id} already.`)
      const start = startOciSandbox(host, id, listen)
      starts.set(id, start)
      return start.finally(() => starts.delete(id))
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.allSettled(starts.values())
      await Promise.all([...host.sandboxes.values()].map((sandbox) => sandbox.remove()))
      await cleanup.disposeAsync()
    },
  }
}

async function claimNames(folder: string): Promise<RunnerNames> {
  const routed = await readRoutedRanges('vly')
  return nameRunner(await claimRunnerNumber(folder, (number) => subnetIsFree(number, routed)))
}

async function mountRootfs(
  { runFolder }: RunnerNames,
  { folder, contents }: { folder: string; contents: RootfsContents },
): Promise<void> {
  await makeRootfs(folder, contents)
  const rootfs = join(runFolder, 'rootfs')
  await mkdir(rootfs, { recursive: true, mode: 0o755 })
  await runCommand('mount', ['--bind', folder, rootfs])
  await runCommand('mount', ['-o', 'remount,bind,ro,nosuid,nodev', rootfs])
}

async function removeAll(names: RunnerNames, folder: string, observe: SandboxObservations): Promise<void> {
  try {
    await sweep(names, folder)
    await releaseRunnerNumber(names.number)
  } catch (error) {
    // The number stays taken, so that the next runner with this folder finds what is left.
    observe.removalFailed(names.cgroup, error)
  }
}
