import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { test } from 'node:test'
import { openTemporaryFolder } from '../services/open-temporary-folder.ts'
import { lockFolder } from './lock-folder.ts'

test('a folder is held by one process, which others can tell', async () => {
  await using folder = await openTemporaryFolder()
  const first = lockFolder(folder.path)
  assert.ok('lock' in first)
  first.lock.tell({ url: 'http://localhost:1' })
  assert.deepEqual(lockFolder(folder.path), { holder: { pid: process.pid, url: 'http://localhost:1' } })
  first.lock[Symbol.dispose]()
  const second = lockFolder(folder.path)
  assert.ok('lock' in second)
  second.lock[Symbol.dispose]()
})

test('a holder that was killed with -9 holds nothing', async () => {
  await using folder = await openTemporaryFolder()
  const child = spawn(process.execPath, ['--eval', holdForever(folder.path)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  assert.deepEqual(lockFolder(folder.path), { holder: { pid: child.pid } })
  child.kill('SIGKILL')
  await once(child, 'exit')
  const taken = lockFolder(folder.path)
  assert.ok('lock' in taken)
  taken.lock[Symbol.dispose]()
})

function holdForever(folder: string): string {
  const source = path.join(import.meta.dirname, 'lock-folder.ts')
  return `import('${source}').then(({ lockFolder }) => {
    console.log('lock' in lockFolder('${folder}'))
    setInterval(() => {}, 1000)
  })`
}
