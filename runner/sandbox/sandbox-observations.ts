/** Everything that the sandbox part ever has to say; the runner's observations.ts says it. */
export interface SandboxObservations {
  /** Vals run with nothing around them but Deno's permissions. Must be impossible to overlook. */
  readonly sandboxIsWeak: () => void
  /** An earlier runner ended without cleaning up; this is what was found of it and removed. */
  readonly leftoversSwept: (names: readonly string[]) => void
  /** Something of a sandbox (or of the driver itself, on disposal) could not be removed. */
  readonly removalFailed: (id: string, cause: unknown) => void
  /** The host did not forward packets, so its sysctl of this name was set to 1. */
  readonly forwardingEnabled: (sysctl: string) => void
}
