import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempDisposable } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { openTestServer } from '@valley/server/testing/open-test-server.ts'
import { tourOf } from './testing/short-tour.ts'

const denoTimeoutMs = 60_000
const deno = path.join(path.dirname(createRequire(import.meta.url).resolve('deno/package.json')), 'deno')

test('the source runs in Deno as it is, with no permission but the network', async () => {
  await using server = await openTestServer()
  const alice = await server.createUser('alice')
  const options = JSON.stringify({ baseUrl: server.url, token: alice.token })
  const program = `
    import { shortTour } from '${import.meta.resolve('./testing/short-tour.ts')}'
    console.log(JSON.stringify(await shortTour(${options})))
  `
  const tour = await runInDeno(program, `--allow-net=${new URL(server.url).host}`)
  assert.deepEqual(JSON.parse(tour), tourOf('alice'))
})

async function runInDeno(program: string, permission: string): Promise<string> {
  await using cache = await mkdtempDisposable(path.join(tmpdir(), 'valley-deno-'))
  const flags = ['--no-config', '--no-lock', '--no-remote', '--no-npm', '--no-prompt', permission]
  const child = spawn(deno, ['run', '--ext=ts', ...flags, '-'], {
    env: { DENO_DIR: cache.path, DENO_NO_UPDATE_CHECK: '1', NO_COLOR: '1' },
    timeout: denoTimeoutMs,
  })
  child.stdin.end(program)
  const [output, complaint] = await Promise.all([text(child.stdout), text(child.stderr)])
  assert.equal(complaint, '')
  return output
}
