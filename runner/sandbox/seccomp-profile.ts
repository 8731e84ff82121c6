/**
 * The system calls that Deno makes when it imports, fetches, serves, resolves, compiles, keeps time and uses /tmp, and
 * their near relatives on other kernels and C libraries. Everything else does not exist for a val: the list names
 * what is allowed, so a call that a future kernel brings is refused by default.
 *
 * Among what is missing: ptrace, process_vm_*, mount and its family, bpf, userfaultfd, io_uring, keyctl, unshare,
 * setns, perf_event_open, personality, memfd_create, mknod, symlink, link, chown, kill, fork, vfork.
 */
const files = words(`
  access faccessat faccessat2 stat lstat fstat newfstatat statx statfs fstatfs open openat openat2 creat
  close close_range dup dup2 dup3 fcntl flock read readv pread64 preadv preadv2 write writev pwrite64
  pwritev pwritev2 lseek truncate ftruncate fallocate fsync fdatasync sync_file_range fadvise64
  copy_file_range sendfile splice pipe pipe2 getdents64 getcwd chdir fchdir readlink readlinkat umask
  mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 chmod fchmod fchmodat utimensat
  inotify_init1 inotify_add_watch inotify_rm_watch
`)

const memory = words(`
  brk mmap mprotect mremap munmap madvise mincore membarrier pkey_alloc pkey_free pkey_mprotect
`)

const network = words(`
  bind listen accept accept4 connect shutdown getsockname getpeername getsockopt setsockopt recvfrom
  recvmsg recvmmsg sendto sendmsg sendmmsg
`)

const waiting = words(`
  poll ppoll select pselect6 epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2 eventfd2 futex
  nanosleep clock_nanosleep restart_syscall sched_yield clock_gettime clock_getres gettimeofday time
  times
`)

/** `execve` is how the runtime turns itself into Deno; there is no other program inside, and no way to fork. */
const processes = words(`
  execve exit exit_group arch_prctl set_tid_address set_robust_list get_robust_list rseq rt_sigaction
  rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait sigaltstack tgkill getpid getppid gettid
  getuid geteuid getgid getegid getresuid getresgid getgroups getpgrp getpgid getsid getrlimit prlimit64
  getrusage getpriority sysinfo uname sched_getaffinity sched_getparam sched_getscheduler sched_getattr
  getrandom getcpu
`)

interface Condition {
  readonly index: number
  readonly value: number
  readonly valueTwo?: number
  readonly op: 'SCMP_CMP_EQ' | 'SCMP_CMP_MASKED_EQ'
}

const addressFamily = { unix: 1, inet: 2, inet6: 10 }
const socketType = { stream: 1, datagram: 2 }
/** Beneath it are flags such as SOCK_CLOEXEC. */
const socketTypeMask = 0xf

/** No raw or packet socket, no netlink, no vsock, no family that is there for the kernel's history only. */
const sockets: readonly [family: number, type: number][] = [
  [addressFamily.unix, socketType.stream],
  [addressFamily.inet, socketType.stream],
  [addressFamily.inet, socketType.datagram],
  [addressFamily.inet6, socketType.stream],
  [addressFamily.inet6, socketType.datagram],
]

/** CLONE_VM and CLONE_THREAD, without any of CLONE_NEW*: a thread, never a process and never a namespace. */
const cloneThread = 0x0001_0100
const cloneMask = 0x7e02_0000 | cloneThread

/** Is it a terminal, how wide, how much is there to read, do not block, close on exec. */
const ioctls = [0x5401, 0x5413, 0x541b, 0x5421, 0x5450, 0x5451]

/** PR_GET_DUMPABLE, PR_SET_NAME, PR_GET_NAME, PR_GET_TIMERSLACK, and PR_SET_VMA, which names memory. */
const prctls = [3, 15, 16, 30, 0x5356_4d41]

const enosys = 38

export const seccompProfile = {
  defaultAction: 'SCMP_ACT_ERRNO',
  // Calls of any other architecture, such as 32-bit ones, end the process.
  architectures: [process.arch === 'arm64' ? 'SCMP_ARCH_AARCH64' : 'SCMP_ARCH_X86_64'],
  syscalls: [
    allow([...files, ...memory, ...network, ...waiting, ...processes]),
    ...sockets.map(([family, type]) =>
      allow(
        ['socket', 'socketpair'],
        [isEqual(0, family), { index: 1, value: socketTypeMask, valueTwo: type, op: 'SCMP_CMP_MASKED_EQ' }],
      ),
    ),
    allow(['clone'], [{ index: 0, value: cloneMask, valueTwo: cloneThread, op: 'SCMP_CMP_MASKED_EQ' }]),
    ...ioctls.map((request) => allow(['ioctl'], [isEqual(1, request)])),
    ...prctls.map((option) => allow(['prctl'], [isEqual(0, option)])),
    // Its flags are behind a pointer, where no filter can look. The C library then falls back to clone.
    { names: ['clone3'], action: 'SCMP_ACT_ERRNO', errnoRet: enosys },
  ],
}

function allow(names: readonly string[], args: readonly Condition[] = []) {
  return { names, action: 'SCMP_ACT_ALLOW', args }
}

function isEqual(index: number, value: number): Condition {
  return { index, value, op: 'SCMP_CMP_EQ' }
}

function words(text: string): string[] {
  return text.trim().split(/\s+/)
}
