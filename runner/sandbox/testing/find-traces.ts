import { readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { listChildCgroups } from '../cgroups.ts'
import { runCommand } from '../run-command.ts'
import { nameRunner, type RunnerNames } from '../runner-names.ts'
import { registryFolder } from '../runner-number.ts'

/** The number that the runner with this state folder has. */
export async function findRunner(folder: string): Promise<RunnerNames> {
  for (const name of (await readdir(registryFolder)).filter((entry) => /^\d+$/.test(entry))) {
    if ((await readlink(join(registryFolder, name))) === folder) return nameRunner(Number(name))
  }
  throw new Error(`No runner uses ${folder}.`)
}

/** Everything on this host that goes by a runner's names: processes, cgroups, namespaces, cables, rules, mounts. */
export async function findTraces(names: RunnerNames, folder: string): Promise<string[]> {
  const traces: string[] = []
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const cgroups = await readFile(`/proc/${pid}/cgroup`, 'utf8').catch(() => '')
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
    // A dead process stays in the table until the host's first process has taken notice.
    const lives = /^State:\t[^ZX]/m.test(status)
    if (lives && cgroups.includes(`/${names.cgroup}/`)) traces.push(`process ${pid}`)
  }
  traces.push(...(await listChildCgroups(names.cgroup)).map((name) => `cgroup ${name}`))
  traces.push(...linesWith(await runCommand('ip', ['netns', 'list']), names.namespacePrefix))
  traces.push(...linesWith(await runCommand('ip', ['-oneline', 'link']), names.interfacePrefix))
  traces.push(...linesWith(await runCommand('nft', ['list', 'tables']), `inet ${names.tableName}`))
  const mounts = await readFile('/proc/self/mountinfo', 'utf8')
  traces.push(...linesWith(mounts, `${names.runFolder}/`), ...linesWith(mounts, `${folder}/`))
  return traces
}

function linesWith(text: string, part: string): string[] {
  return text.split('\n').filter((line) => line.includes(part))
}
