/** Why a sandbox is gone, as far as the kernel tells. */
export type SandboxEnd = 'exited' | 'out_of_memory' | 'killed'

/** One started sandbox: a Deno process that knows no val yet and is on its way to its control socket. */
export interface Sandbox {
  readonly id: string
  /** On our side, the folder that it sees as /sock: it connects to `control.sock` and listens on `http.sock` in it. */
  readonly socketFolder: string
  /** On our side, the folder that it sees, and can only read, as /val. */
  readonly valFolder: string
  /** How the sandbox itself has to spell those two folders. */
  readonly inside: { readonly socketFolder: string; readonly valFolder: string }
  /** What it wrote to its standard output and error, its end at most: the reason why a boot failed. */
  readonly recentOutput: () => string
  /** Settles when the last process in it is gone, and never rejects. */
  readonly ended: Promise<SandboxEnd>
  /** Memory in use now; null where nobody counts. */
  readonly readMemoryBytes: () => Promise<number | null>
  /** Processor time used so far; null where nobody counts. */
  readonly readCpuMs: () => Promise<number | null>
  /** Ends every process in it and removes all that was made for it. May be called twice. */
  readonly remove: () => Promise<void>
}

/** Starts sandboxes of one kind. Disposed, it removes what is left of them. */
export interface SandboxDriver extends AsyncDisposable {
  readonly kind: 'runc' | 'runsc' | 'process'
  /** `listen` is awaited once the folders exist and before anything is started in them. */
  readonly start: (id: string, listen: (sandbox: SandboxFolders) => Promise<void>) => Promise<Sandbox>
}

export type SandboxFolders = Pick<Sandbox, 'socketFolder' | 'valFolder'>
