/** The sandbox cannot be had here. The message is one sentence for the operator: what to install or set. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError'
}
