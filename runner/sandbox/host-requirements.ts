import { runCommand } from './run-command.ts'
import { SandboxError } from './sandbox-error.ts'
import type { SandboxOptions } from './sandbox-options.ts'

const wayOut = 'or set SANDBOX=process on a laptop, where vals are then held by Deno alone'

/** Says in one sentence what this host lacks for real sandboxes. */
export async function requireHost(
  kind: SandboxOptions['kind'],
  { platform, userId } = { platform: process.platform, userId: process.getuid?.() },
): Promise<void> {
  if (platform !== 'linux') {
    throw new SandboxError(`SANDBOX=${kind} needs Linux; run the runner there, ${wayOut}.`)
  }
  if (userId !== 0) {
    throw new SandboxError(
      `SANDBOX=${kind} needs root, to make namespaces and firewall rules; start the runner as root, ${wayOut}.`,
    )
  }
  await requireProgram(kind, kind, kind === 'runsc' ? 'gVisor, release 20240729 or newer' : 'runc')
  await requireProgram('nft', kind, 'nftables')
  await requireProgram('ip', kind, 'iproute2')
  await requireProgram('nsenter', kind, 'util-linux')
  await requireProgram('mount', kind, 'mount')
}

async function requireProgram(program: string, kind: string, packageName: string): Promise<void> {
  try {
    await runCommand(program, [program === 'ip' ? '-V' : '--version'])
  } catch (cause) {
    throw new SandboxError(
      `SANDBOX=${kind} needs the program ${program}; install ${packageName}, ${wayOut}.`,
      { cause },
    )
  }
}
