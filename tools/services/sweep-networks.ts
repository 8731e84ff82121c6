import { existsSync } from 'node:fs'
import { runCommand } from '../processes/run-command.ts'

/** How the network namespaces and links of a process are named: these, with its process id behind them. */
export interface NetworkNames {
  readonly namespace: string
  readonly link: string
}

/** Removes the networks of processes that were killed before they could do so. */
export async function sweepNetworks({ namespace, link }: NetworkNames): Promise<void> {
  const namespaces = (await runCommand('ip', ['netns', 'list']))
    .split('\n')
    .map((line) => line.split(' ')[0] ?? '')
  for (const name of namespaces) {
    if (isAbandoned(name, namespace)) await runCommand('ip', ['netns', 'delete', name]).catch(() => '')
  }
  const links = JSON.parse(await runCommand('ip', ['-json', 'link', 'show'])) as readonly { ifname: string }[]
  for (const { ifname } of links) {
    if (isAbandoned(ifname, link)) await runCommand('ip', ['link', 'delete', ifname]).catch(() => '')
  }
}

function isAbandoned(name: string, prefix: string): boolean {
  const [, pid] = name.startsWith(prefix) ? (/^(\d+)(-\d+)?$/.exec(name.slice(prefix.length)) ?? []) : []
  return pid !== undefined && !existsSync(`/proc/${pid}`)
}
