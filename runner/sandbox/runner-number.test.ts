import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { claimRunnerNumber, releaseRunnerNumber } from './runner-number.ts'

const any = () => true

test('runners that open at the same moment get different numbers, and each its own again', async () => {
  const folders = await Promise.all(
    Array.from({ length: 8 }, () => mkdtemp(join(tmpdir(), 'valley-number-'))),
  )
  const numbers = await Promise.all(folders.map((folder) => claimRunnerNumber(folder, any)))
  assert.equal(new Set(numbers).size, folders.length)
  assert.deepEqual(await Promise.all(folders.map((folder) => claimRunnerNumber(folder, any))), numbers)
  await Promise.all(numbers.map((number) => releaseRunnerNumber(number)))
  for (const folder of folders) await rm(folder, { recursive: true })
})

test('the number of a folder that was deleted is given to another', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'valley-number-'))
  const number = await claimRunnerNumber(folder, any)
  await rm(folder, { recursive: true })
  const other = await mkdtemp(join(tmpdir(), 'valley-number-'))
  assert.equal(await claimRunnerNumber(other, (candidate) => candidate === number), number)
  await releaseRunnerNumber(number)
  await rm(other, { recursive: true })
})
