import { denoArguments, denoEnvironment } from './deno-arguments.ts'
import { insideDeno, insidePlaces } from './rootfs.ts'
import type { SandboxLimits } from './sandbox-options.ts'
import { seccompProfile } from './seccomp-profile.ts'

export interface OciSettings {
  /** Absolute path of the file tree that all sandboxes have in common. */
  readonly rootfs: string
  readonly socketFolder: string
  readonly valFolder: string
  readonly networkNamespace: string
  readonly cgroup: string
  readonly rootUserId: number
  readonly userId: number
  readonly limits: SandboxLimits
  readonly entry: string
}

/** Inside, Deno is this user; root exists only while the runtime sets the sandbox up. */
export const insideUserId = 1000
const cpuPeriodUs = 100_000
const nothing = { bounding: [], effective: [], inheritable: [], permitted: [], ambient: [] }

/** The whole of a sandbox, as the OCI runtime specification words it. */
export function buildOciConfig(settings: OciSettings) {
  const { limits } = settings
  return {
    ociVersion: '1.0.2',
    process: {
      terminal: false,
      user: { uid: insideUserId, gid: insideUserId, umask: 0o077 },
      cwd: '/',
      args: [insideDeno, ...buildArguments(settings)],
      env: Object.entries(denoEnvironment(insidePlaces.temporaryFolder)).map(
        ([name, value]) => `${name}=${value}`,
      ),
      capabilities: nothing,
      noNewPrivileges: true,
      // When the whole host runs out of memory, a val goes before anything of ours. Under gVisor it also makes its
      // kernel go first, and not a process behind it whose end nobody would notice.
      oomScoreAdj: 1000,
      rlimits: buildRlimits(limits),
    },
    root: { path: settings.rootfs, readonly: true },
    hostname: 'val',
    mounts: buildMounts(settings),
    linux: {
      namespaces: [
        ...['user', 'pid', 'mount', 'ipc', 'uts', 'cgroup'].map((type) => ({ type })),
        { type: 'network', path: settings.networkNamespace },
      ],
      uidMappings: buildIdMappings(settings),
      gidMappings: buildIdMappings(settings),
      cgroupsPath: settings.cgroup,
      resources: buildResources(limits),
      seccomp: seccompProfile,
      rootfsPropagation: 'private',
      maskedPaths,
      readonlyPaths: ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'],
    },
  }
}

function buildArguments({ entry, limits }: OciSettings): string[] {
  // Addresses are the kernel's business here: its rules know all of them, also those that a name led to.
  return denoArguments({ places: insidePlaces, entry, heapMib: limits.heapMib, netDenied: [] })
}

function buildRlimits({ openFilesMax, pidsMax, temporaryBytesMax }: SandboxLimits) {
  const bounds = {
    RLIMIT_NOFILE: openFilesMax,
    RLIMIT_NPROC: pidsMax,
    RLIMIT_FSIZE: temporaryBytesMax,
    RLIMIT_CORE: 0,
    RLIMIT_MEMLOCK: 0,
    RLIMIT_MSGQUEUE: 0,
  }
  return Object.entries(bounds).map(([type, bound]) => ({ type, hard: bound, soft: bound }))
}

function buildMounts({ limits, socketFolder, valFolder }: OciSettings) {
  const inert = ['nosuid', 'nodev', 'noexec']
  return [
    { destination: '/proc', type: 'proc', source: 'proc', options: inert },
    {
      destination: '/dev',
      type: 'tmpfs',
      source: 'tmpfs',
      options: ['nosuid', 'noexec', 'mode=755', 'size=64k', 'nr_inodes=64'],
    },
    {
      destination: insidePlaces.temporaryFolder,
      type: 'tmpfs',
      source: 'tmpfs',
      options: [...inert, 'mode=1777', `size=${limits.temporaryBytesMax}`, 'nr_inodes=16k'],
    },
    {
      destination: insidePlaces.socketFolder,
      type: 'bind',
      source: socketFolder,
      options: ['bind', 'private', 'rw', ...inert],
    },
    {
      destination: insidePlaces.valFolder,
      type: 'bind',
      source: valFolder,
      options: ['bind', 'private', 'ro', ...inert],
    },
  ]
}

/** Two users exist inside, and nobody else on the host is these two. */
function buildIdMappings({ rootUserId, userId }: OciSettings) {
  return [
    { containerID: 0, hostID: rootUserId, size: 1 },
    { containerID: insideUserId, hostID: userId, size: 1 },
  ]
}

function buildResources({ memoryBytesMax, cpuCoresMax, pidsMax }: SandboxLimits) {
  return {
    devices: [{ allow: false, access: 'rwm' }],
    // Memory and swap together, so no swap.
    memory: { limit: memoryBytesMax, swap: memoryBytesMax },
    cpu: { period: cpuPeriodUs, quota: Math.round(cpuCoresMax * cpuPeriodUs) },
    pids: { limit: pidsMax },
  }
}

/** What the kernel tells about itself and the host, and what Deno does not read. */
const maskedPaths = [
  'acpi',
  'asound',
  'buddyinfo',
  'cmdline',
  'config.gz',
  'diskstats',
  'interrupts',
  'iomem',
  'ioports',
  'kallsyms',
  'kcore',
  'keys',
  'key-users',
  'kmsg',
  'latency_stats',
  'modules',
  'pagetypeinfo',
  'partitions',
  'pressure',
  'sched_debug',
  'scsi',
  'slabinfo',
  'softirqs',
  'swaps',
  'sysvipc',
  'timer_list',
  'timer_stats',
  'vmallocinfo',
  'vmstat',
  'zoneinfo',
].map((name) => `/proc/${name}`)
