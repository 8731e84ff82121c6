/** What one sandbox may use at the most. */
export interface SandboxLimits {
  /** All memory of a sandbox, what it writes to /tmp included. */
  readonly memoryBytesMax: number
  readonly cpuCoresMax: number
  /** Processes and threads together. */
  readonly pidsMax: number
  readonly temporaryBytesMax: number
  /** JavaScript's heap. Keep it well below the memory, so that V8 says what happened before the kernel kills. */
  readonly heapMib: number
  readonly openFilesMax: number
}

export interface EgressOptions {
  /** CIDRs that vals must not reach, besides all that is not the public internet. */
  readonly denied: readonly string[]
  /** Addresses of the DNS servers that vals may ask; empty for those of this host. */
  readonly resolvers: readonly string[]
}

export interface SandboxBootstrap {
  /** File name → JavaScript, put beside each other in a folder that the sandbox can only read. */
  readonly files: Readonly<Record<string, string>>
  /** Which of the files Deno is started with. */
  readonly entry: string
}

export interface SandboxOptions {
  readonly kind: 'runc' | 'runsc' | 'process'
  /** Absolute path of the folder that holds all state of this runner's sandboxes; no other runner may use it. */
  readonly folder: string
  readonly limits: SandboxLimits
  readonly egress: EgressOptions
  readonly bootstrap: SandboxBootstrap
}
