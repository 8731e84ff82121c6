import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildOciConfig, insideUserId } from './oci-config.ts'
import { testLimits } from './testing/open-test-driver.ts'

const config = buildOciConfig({
  rootfs: '/run/valley/run-0/rootfs',
  socketFolder: '/run/valley/run-0/slots/0/sock',
  valFolder: '/run/valley/run-0/slots/0/val',
  networkNamespace: '/run/netns/valley-0-0',
  cgroup: '/valley-0/a',
  rootUserId: 1_879_048_192,
  userId: 1_879_048_193,
  limits: testLimits,
  entry: 'main.js',
})

test('a sandbox has no capability in any of the five sets, and cannot get new privileges', () => {
  assert.deepEqual(config.process.capabilities, {
    bounding: [],
    effective: [],
    inheritable: [],
    permitted: [],
    ambient: [],
  })
  assert.equal(config.process.noNewPrivileges, true)
})

test('a sandbox has a namespace of every kind, and joins only the network that was prepared for it', () => {
  const { namespaces } = config.linux
  assert.deepEqual(namespaces.map(({ type }) => type).toSorted(), [
    'cgroup',
    'ipc',
    'mount',
    'network',
    'pid',
    'user',
    'uts',
  ])
  assert.deepEqual(
    namespaces.filter((namespace) => 'path' in namespace),
    [{ type: 'network', path: '/run/netns/valley-0-0' }],
  )
})

test('two users exist inside, neither of them a user of the host', () => {
  assert.deepEqual(config.linux.uidMappings, [
    { containerID: 0, hostID: 1_879_048_192, size: 1 },
    { containerID: insideUserId, hostID: 1_879_048_193, size: 1 },
  ])
  assert.deepEqual(config.linux.gidMappings, config.linux.uidMappings)
  assert.equal(config.process.user.uid, insideUserId)
})

test('of the host a sandbox sees a file tree, a val and a socket folder, and can write to the last alone', () => {
  assert.deepEqual(config.root, { path: '/run/valley/run-0/rootfs', readonly: true })
  const bound = config.mounts.filter(({ type }) => type === 'bind')
  assert.deepEqual(
    bound.map(({ destination, options }) => [destination, options.includes('rw'), options.includes('ro')]),
    [
      ['/sock', true, false],
      ['/val', false, true],
    ],
  )
})

test('nothing that is mounted can be executed or lends its privileges', () => {
  for (const { destination, options } of config.mounts) {
    assert.ok(options.includes('nosuid') && options.includes('noexec'), destination)
    assert.ok(destination === '/dev' || options.includes('nodev'), destination)
  }
})

test('every resource of a sandbox has a bound', () => {
  assert.deepEqual(config.linux.resources, {
    devices: [{ allow: false, access: 'rwm' }],
    memory: { limit: testLimits.memoryBytesMax, swap: testLimits.memoryBytesMax },
    cpu: { period: 100_000, quota: 100_000 },
    pids: { limit: testLimits.pidsMax },
  })
  const rlimits = Object.fromEntries(config.process.rlimits.map(({ type, hard }) => [type, hard]))
  assert.equal(rlimits['RLIMIT_NOFILE'], testLimits.openFilesMax)
  assert.equal(rlimits['RLIMIT_FSIZE'], testLimits.temporaryBytesMax)
  assert.equal(rlimits['RLIMIT_CORE'], 0)
  const temporary = config.mounts.find(({ destination }) => destination === '/tmp')
  assert.ok(temporary?.options.includes(`size=${testLimits.temporaryBytesMax}`))
})

test('Deno may read four folders, write to two, and neither run, load nor ask for anything', () => {
  const { args } = config.process
  assert.ok(args.includes('--no-prompt'))
  assert.ok(args.includes('--allow-read=/sock,/val,/app,/tmp'))
  assert.ok(args.includes('--allow-write=/sock,/tmp'))
  for (const permission of ['--allow-run', '--allow-ffi', '--allow-sys', '--allow-all', '-A']) {
    assert.ok(!args.some((argument) => argument.startsWith(permission)), permission)
  }
})

test('the environment that Deno is started with tells nothing of the host', () => {
  const names = config.process.env.map((entry) => entry.split('=')[0])
  assert.deepEqual(names, [
    'HOME',
    'TMPDIR',
    'DENO_DIR',
    'DENO_NO_PROMPT',
    'DENO_NO_UPDATE_CHECK',
    'DENO_TLS_CA_STORE',
    'NO_COLOR',
  ])
})
