import { accessSync, constants } from 'node:fs'
import path from 'node:path'

/** The strongest that this machine offers without being asked; what the operator set is taken as it is. */
export function chooseSandbox(env: NodeJS.ProcessEnv): string {
  if (env['SANDBOX']) return env['SANDBOX']
  const canIsolate = process.platform === 'linux' && process.getuid?.() === 0
  return canIsolate && ['runc', 'nft', 'ip'].every((name) => isInstalled(name, env)) ? 'runc' : 'process'
}

function isInstalled(name: string, env: NodeJS.ProcessEnv): boolean {
  const folders = [...(env['PATH'] ?? '').split(path.delimiter), '/usr/sbin', '/sbin']
  return folders.some((folder) => canExecute(path.join(folder, name)))
}

function canExecute(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
