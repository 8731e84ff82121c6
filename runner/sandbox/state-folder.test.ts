import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { SandboxError } from './sandbox-error.ts'
import { lockStateFolder } from './state-folder.ts'

test('two runners cannot share a folder, one after the other can', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'valley-lock-'))
  const first = await lockStateFolder(folder)
  await assert.rejects(() => lockStateFolder(folder), SandboxError)
  await first[Symbol.asyncDispose]()
  const second = await lockStateFolder(folder)
  await second[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

test('a runner that was killed with -9 does not keep its folder locked', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'valley-lock-'))
  const code = `import { lockStateFolder } from ${JSON.stringify(new URL('state-folder.ts', import.meta.url).href)}
    await lockStateFolder(${JSON.stringify(folder)}); console.log('locked'); setInterval(() => {}, 1e6)`
  const other = spawn(process.execPath, ['--input-type=module', '--eval', code])
  await once(other.stdout, 'data')
  await assert.rejects(() => lockStateFolder(folder), SandboxError)
  other.kill('SIGKILL')
  await once(other, 'exit')
  const lock = await lockStateFolder(folder)
  await lock[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

test('a folder whose path is too long for a socket is refused with a sentence', async () => {
  await assert.rejects(() => lockStateFolder(`/tmp/${'x'.repeat(100)}`), /too long for a socket/)
})
