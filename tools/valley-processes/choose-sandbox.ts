import { findBinaryOrNull } from '../processes/find-binary.ts'

/** The strongest that this machine offers without being asked; what the operator set is taken as it is. */
export function chooseSandbox(env: NodeJS.ProcessEnv): string {
  if (env['SANDBOX']) return env['SANDBOX']
  const canIsolate = process.platform === 'linux' && process.getuid?.() === 0
  return canIsolate && ['runc', 'nft', 'ip'].every((name) => findBinaryOrNull(name) !== null)
    ? 'runc'
    : 'process'
}
