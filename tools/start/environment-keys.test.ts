import assert from 'node:assert/strict'
import { readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { parseKeysOrNull } from '@valley/server/env/keys.ts'
import { openTemporaryFolder } from '../services/open-temporary-folder.ts'
import { ensureEnvironmentKeys, findEnvironmentKeysOrNull } from './environment-keys.ts'

test('a key is made once, kept where only its owner reads it, and found again', async () => {
  await using folder = await openTemporaryFolder()
  assert.equal(await findEnvironmentKeysOrNull(folder.path, {}), null)
  const made = await ensureEnvironmentKeys(folder.path, {})
  assert.equal(parseKeysOrNull(made)?.length, 1)
  assert.equal(await ensureEnvironmentKeys(folder.path, {}), made)
  assert.equal(await findEnvironmentKeysOrNull(folder.path, {}), made)
  const { mode } = await stat(path.join(folder.path, 'environment-keys'))
  assert.equal(mode & 0o777, 0o600)
})

test("the operator's own keys win, and then none is made", async () => {
  await using folder = await openTemporaryFolder()
  assert.equal(await ensureEnvironmentKeys(folder.path, { ENVIRONMENT_KEYS: 'own' }), 'own')
  assert.deepEqual(await readdir(folder.path), [])
})
