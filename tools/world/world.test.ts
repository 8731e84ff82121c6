import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { repositoryFolder } from '../repository.ts'

const whoAmI = 'curl --silent --header "Authorization: Bearer $T" $VALLEY_URL/v1/me'

test('a command finds alice and bob in its world, and its code is the code of the whole', async () => {
  const script = `T=$VALLEY_TOKEN; ${whoAmI}; echo; T=$VALLEY_TOKEN_BOB; ${whoAmI}; echo; exit 7`
  const { code, stdout } = await runWorld(script)
  const names = stdout
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { username: string }).username)
  assert.deepEqual(names, ['alice', 'bob'])
  assert.equal(code, 7)
})

test('nothing of a world is left after its command, even if that was killed', async () => {
  const { code, stderr } = await runWorld('kill -KILL $$')
  assert.equal(code, 128 + 9)
  const log = /Server log: (\S+)/.exec(stderr)?.[1]
  assert.ok(log !== undefined && !existsSync(path.dirname(log)))
})

async function runWorld(script: string) {
  const args = [path.join(repositoryFolder, 'tools/world.ts'), 'sh', '-c', script]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ])
  return { code: code as number, stdout, stderr }
}
