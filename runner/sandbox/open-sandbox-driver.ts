import { isAbsolute } from 'node:path'
import { openOciDriver } from './oci-driver.ts'
import { runc, runsc } from './oci-runtime.ts'
import { openProcessDriver } from './process-driver.ts'
import { SandboxError } from './sandbox-error.ts'
import type { SandboxObservations } from './sandbox-observations.ts'
import type { SandboxOptions } from './sandbox-options.ts'
import type { SandboxDriver } from './sandbox.ts'

export async function openSandboxDriver(
  options: SandboxOptions,
  observe: SandboxObservations,
): Promise<SandboxDriver> {
  if (!isAbsolute(options.folder)) {
    throw new SandboxError(`The sandboxes' folder must be an absolute path, not ${options.folder}.`)
  }
  if (options.kind === 'process') return openProcessDriver(options, observe)
  return openOciDriver(options.kind === 'runc' ? runc : runsc, options, observe)
}
