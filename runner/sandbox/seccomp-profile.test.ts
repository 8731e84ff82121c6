import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { findDenoBinary } from './deno-binary.ts'
import { buildOciConfig } from './oci-config.ts'
import { makeRootfs } from './rootfs.ts'
import { seccompProfile } from './seccomp-profile.ts'
import { testLimits } from './testing/open-test-driver.ts'

const run = promisify(execFile)

test('what is not listed is refused, and calls that break sandboxes are not listed', () => {
  assert.equal(seccompProfile.defaultAction, 'SCMP_ACT_ERRNO')
  const allowed = new Set(
    seccompProfile.syscalls.filter(({ action }) => action === 'SCMP_ACT_ALLOW').flatMap(({ names }) => names),
  )
  for (const name of `ptrace process_vm_readv process_vm_writev mount umount2 pivot_root move_mount open_tree fsopen
    fsconfig fsmount bpf userfaultfd io_uring_setup io_uring_enter io_uring_register keyctl add_key request_key
    unshare setns clone3 perf_event_open kexec_load init_module finit_module delete_module personality memfd_create
    mknod mknodat symlink symlinkat link linkat chown fchown lchown chroot kill tkill fork vfork execveat
    open_by_handle_at name_to_handle_at syslog quotactl swapon reboot settimeofday clock_settime iopl ioperm
    modify_ldt seccomp pidfd_open pidfd_getfd msgget semget shmget mq_open vmsplice`.split(/\s+/)) {
    assert.ok(!allowed.has(name), name)
  }
})

/** x86-64 numbers of calls that would succeed, or fail otherwise, for any user without the filter. */
const refusedCalls: Record<string, readonly [number, ...number[]]> = {
  'unshare a user namespace': [272, 0x1000_0000],
  'setns to itself': [308, 0, 0],
  'keyctl: find the session keyring': [250, 0, -3, 0],
  'ptrace: let the parent trace': [101, 0, 0, 0, 0],
  memfd_create: [319, 0, 0],
  userfaultfd: [323, 1],
  io_uring_setup: [425, 1, 0],
  bpf: [321, 0, 0, 0],
  perf_event_open: [298, 0, 0, 0, 0, 0],
  'personality: no address randomization': [135, 0x004_0000],
  'kill oneself with signal 0': [62, 1, 0],
  'socket AF_PACKET': [41, 17, 3, 0],
  'socket AF_NETLINK': [41, 16, 3, 0],
  'socket AF_VSOCK': [41, 40, 1, 0],
  'socket AF_ALG': [41, 38, 5, 0],
  'socket AF_INET, raw': [41, 2, 3, 1],
  'socket AF_UNIX, datagram': [41, 1, 2, 0],
  'clone: a process': [56, 17, 0, 0, 0, 0],
  'clone: a user namespace': [56, 0x1000_0011, 0, 0, 0, 0],
  fork: [57],
  vfork: [58],
  chroot: [161, 0],
  'prctl: be traceable by all': [157, 0x59616d61, -1],
  'prctl: read the own capabilities': [157, 23, 0],
  'ioctl: type into the terminal': [16, 0, 0x5412, 0],
}

test('calls that would work without the filter are refused by it', async () => {
  const answers = await callInside(refusedCalls)
  for (const [name, answer] of Object.entries(answers)) assert.equal(answer, 'EPERM', name)
  assert.deepEqual(Object.keys(answers), Object.keys(refusedCalls))
})

test('clone3 does not exist, so that the C library makes threads in the way that can be checked', async () => {
  assert.deepEqual(await callInside({ clone3: [435, 0, 0] }), { clone3: 'ENOSYS' })
})

/** Only this test gives Deno the right to call the C library: to ask the kernel itself, past all of Deno's rules. */
async function callInside(calls: Record<string, readonly number[]>): Promise<Record<string, string>> {
  await mkdir('/run/valley', { recursive: true })
  const folder = await mkdtemp('/run/valley/seccomp-test-')
  const id = `valley-seccomp-test-${process.pid}`
  const records = ['--root', join(folder, 'state')]
  try {
    const rootfs = join(folder, 'rootfs')
    const main = `const libc = Deno.dlopen('libc.so.6', {
      syscall: { parameters: ['i64', 'i64', 'i64', 'i64', 'i64', 'i64'], result: 'i64' },
      __errno_location: { parameters: [], result: 'pointer' },
    }).symbols
    const names = { 1: 'EPERM', 38: 'ENOSYS' }
    const answers = {}
    for (const [name, numbers] of Object.entries(${JSON.stringify(calls)})) {
      const result = libc.syscall(...[...numbers, 0, 0, 0, 0, 0, 0].slice(0, 6).map(BigInt))
      const errno = new Deno.UnsafePointerView(libc.__errno_location()).getInt32()
      answers[name] = result === -1n ? (names[errno] ?? errno) : 'worked'
    }
    console.log(JSON.stringify(answers))`
    await makeRootfs(rootfs, {
      deno: findDenoBinary(),
      resolvers: [],
      bootstrap: { files: { 'main.js': main }, entry: 'main.js' },
    })
    const userId = 1_879_048_192 + 500_000
    const config = buildOciConfig({
      rootfs,
      socketFolder: rootfs,
      valFolder: rootfs,
      networkNamespace: '',
      cgroup: `/${id}`,
      rootUserId: userId,
      userId: userId + 1,
      limits: testLimits,
      entry: 'main.js',
    })
    config.process.args.splice(2, 0, '--allow-ffi')
    await run('chmod', ['755', folder])
    await writeFile(join(folder, 'config.json'), JSON.stringify(config))
    const { stdout } = await run('runc', [...records, 'run', '--bundle', folder, id], {
      timeout: 20_000,
      killSignal: 'SIGKILL',
    })
    return JSON.parse(stdout) as Record<string, string>
  } finally {
    // Where the filter lets a call through, what is inside may be stopped or have multiplied.
    await run('runc', [...records, 'delete', '--force', id])
    await rm(folder, { recursive: true, force: true })
  }
}
