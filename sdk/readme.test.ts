import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { openTestServer } from '@valley/server/testing/open-test-server.ts'

const exampleTimeoutMs = 30_000
const run = promisify(execFile)

test('every example of the README runs as it is written', async () => {
  await using server = await openTestServer()
  const { token } = await server.createUser('alice')
  const readme = await readFile(new URL('README.md', import.meta.url), 'utf8')
  const examples = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, code = '']) => code)
  assert.ok(examples.length >= 4)
  // The client that the first example makes is the one that the others speak of.
  const preamble = examples[0]?.split('\n\n').slice(0, 2).join('\n') ?? ''
  for (const example of examples) {
    const program = example.startsWith(preamble.slice(0, 30)) ? example : `${preamble}\n${example}`
    const { stdout } = await run(process.execPath, ['--input-type=module-typescript', '--eval', program], {
      cwd: import.meta.dirname,
      env: { VALLEY_URL: server.url, VALLEY_TOKEN: token },
      timeout: exampleTimeoutMs,
    })
    assert.notEqual(stdout, '')
  }
})
