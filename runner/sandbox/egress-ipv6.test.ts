import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

const run = promisify(execFile)

for (const kind of ['runc', 'runsc']) {
  test(`${kind}: over IPv6, too, only public addresses are reached`, { timeout: 60_000 }, async () => {
    const program = new URL('testing/try-ipv6.ts', import.meta.url).pathname
    const unshare = ['--net', '--mount', '--propagation', 'private']
    const { stdout } = await run('unshare', [...unshare, process.execPath, program, kind], {
      timeout: 50_000,
    })
    assert.deepEqual(JSON.parse(stdout), {
      '2001:db8::10': 'public',
      '2001:db8:1::10': 'refused',
      '2001:db8::2': 'refused',
      'fd76:616c:6c65::1': 'refused',
      '::1': 'refused',
      'fd00:ec2::254': 'refused',
    })
  })
}
