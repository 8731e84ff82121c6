import path from 'node:path'
import type { Attack, Places } from './attack.ts'
import { probe, using } from './probe.ts'

const family = 'files'

export function fileAttacks({ canaryFiles, runnerPid }: Places): Attack[] {
  return [
    readsHost(canaryFiles),
    readsProcesses(runnerPid),
    readsProgram,
    writesElsewhere(canaryFiles),
    linksElsewhere(canaryFiles),
  ]
}

function readsHost(canaryFiles: readonly string[]): Attack {
  const hostPaths = [
    '/etc/passwd',
    '/etc/shadow',
    '/etc/hostname',
    '/home',
    '/usr/bin/env',
    '/var/log',
    '/run/valley',
    ...canaryFiles,
  ]
  return probe({
    family,
    name: "reads the host's files",
    tries: {
      ...Object.fromEntries(
        hostPaths.map((path) => [`Deno.readTextFile ${path}`, `await Deno.readTextFile('${path}')`]),
      ),
      ...Object.fromEntries(
        canaryFiles.map((path) => [
          `node:fs ${path}`,
          using('node:fs', `it.readFileSync('${path}', 'utf8')`),
        ]),
      ),
      'up from /tmp': "await Deno.readTextFile('/tmp/../../../../etc/passwd')",
      'a file address': "await Deno.readTextFile(new URL('file:///etc/passwd'))",
      'fetch of a file': "(await fetch('file:///etc/passwd')).status",
      'list the root': "[...Deno.readDirSync('/')].map(({ name }) => name)",
    },
  })
}

function readsProcesses(runnerPid: number): Attack {
  return probe({
    family,
    name: 'reads what the kernel shows of processes',
    tries: {
      'environment of process 1': "await Deno.readTextFile('/proc/1/environ')",
      'its own environment': "await Deno.readTextFile('/proc/self/environ')",
      "environment of the runner's number": `await Deno.readTextFile('/proc/${runnerPid}/environ')`,
      'root of process 1': "await Deno.readTextFile('/proc/1/root/etc/resolv.conf')",
      'memory of process 1': "await Deno.open('/proc/self/mem', { read: true, write: true })",
      'its open files': "[...Deno.readDirSync('/proc/self/fd')].length",
      'its mounts': using('node:fs', "it.readFileSync('/proc/self/mountinfo', 'utf8')"),
      'every process': "[...Deno.readDirSync('/proc')].length",
      'kernel settings': "await Deno.readTextFile('/proc/sys/kernel/core_pattern')",
      'cgroup files': "await Deno.readTextFile('/sys/fs/cgroup/memory.max')",
    },
  })
}

const readsProgram = probe({
  family,
  name: 'reads the program around it',
  tries: {
    'the bootstrap': "await Deno.readTextFile('/app/main.js')",
    'the bootstrap by node:fs': using('node:fs', "it.readFileSync('/app/control.js', 'utf8')"),
    'list of the bootstrap': "[...Deno.readDirSync('/app')].length",
    'the socket folder': "[...Deno.readDirSync('/sock')].length",
    'the Deno binary': "(await Deno.readFile('/bin/deno')).length",
    'name resolution': "await Deno.readTextFile('/etc/resolv.conf')",
    'its own folder from outside': "[...Deno.readDirSync('/val/..')].length",
    'a database of the bootstrap': using(
      'node:sqlite',
      `new it.DatabaseSync('/tmp/a.db').exec("ATTACH '/app/main.js' AS x; SELECT * FROM x.sqlite_master")`,
    ),
  },
})

function writesElsewhere(canaryFiles: readonly string[]): Attack {
  const paths = [
    '/attacked',
    '/val/attacked',
    '/app/main.js',
    '/etc/resolv.conf',
    '/bin/deno',
    '/dev/shm/attacked',
    '/sock/attacked',
    '/proc/self/oom_score_adj',
    '/proc/sys/kernel/core_pattern',
    '/sys/fs/cgroup/cgroup.procs',
    // Its own /tmp is another one, in which it may write whatever it likes.
    ...canaryFiles.filter((file) => path.dirname(file) !== '/tmp'),
  ]
  return probe({
    family,
    name: 'writes anywhere but to /tmp',
    tries: {
      ...Object.fromEntries(
        paths.map((file) => [
          `Deno.writeTextFile ${file}`,
          `await Deno.writeTextFile('${file}', 'attacked')`,
        ]),
      ),
      'node:fs over its own code': using('node:fs', "it.writeFileSync('/val/x.ts', 'attacked')"),
      'rename out of /tmp':
        "Deno.writeTextFileSync('/tmp/a', 'attacked'), Deno.renameSync('/tmp/a', '/val/a')",
      'remove its own code': "await Deno.remove('/val', { recursive: true })",
      'make a device': using('node:fs', "it.openSync('/dev/mem', 'r')"),
    },
  })
}

function linksElsewhere(canaryFiles: readonly string[]): Attack {
  const target = canaryFiles[0] ?? '/etc/passwd'
  return probe({
    family,
    name: 'reaches elsewhere by links',
    tries: {
      'symbolic link to a file': `(await Deno.symlink('${target}', '/tmp/link'), await Deno.readTextFile('/tmp/link'))`,
      'symbolic link to /proc':
        "(await Deno.symlink('/proc/1/environ', '/tmp/proc'), await Deno.readTextFile('/tmp/proc'))",
      'symbolic link to the sockets':
        "(await Deno.symlink('/sock', '/tmp/sock'), [...Deno.readDirSync('/tmp/sock')].length)",
      'symbolic link by node:fs': using(
        'node:fs',
        "(it.symlinkSync('/', '/tmp/root'), it.readdirSync('/tmp/root'))",
      ),
      'hard link': "(await Deno.link('/bin/deno', '/tmp/deno'), 'linked')",
      'hard link to the bootstrap': using('node:fs', "it.linkSync('/app/main.js', '/tmp/main.js')"),
      'write through a link': `(await Deno.symlink('${target}', '/tmp/out'), await Deno.writeTextFile('/tmp/out', 'attacked'))`,
    },
  })
}
