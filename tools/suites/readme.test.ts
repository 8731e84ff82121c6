import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { startClone } from './readme/start-clone.ts'
import { readWalkThrough, scriptOf } from './readme/walk-through.ts'

const run = promisify(execFile)
const separator = '-- next block --'

/** What each block of the walk-through must have printed, in the README's order. */
const expected = [
  /"name":"hello".*"version":1.*"endpoint":"http:\/\/me--hello\.localhost:\d+"/s,
  /^Hello from the valley$/m,
  /"version":2.*\}Hello again$/ms,
  /event: log.*asked for \/watched.*event: run.*"logs":\[\{.*asked for \/watched.*"data":\[\{.*"status":"succeeded"/s,
  /"version":3.*\}Good morning\s*$/s,
  /"status":"succeeded".*"args":\[2,3\],"returnValue":5.*adding 2 and 3/s,
  /"cron":"\*\/2 \* \* \* \*","timeZone":"Europe\/Berlin".*"source":"schedule","status":"succeeded"/s,
  /"version":3.*"version":2.*"version":1.*Hello from the valley.*GREETING/s,
  /Just what I was looking for.*"data":\[\{.*"name":"hello"/s,
  /^204$/m,
]

test('a stranger gets from a clean clone through the whole of the README', async () => {
  await using clone = await startClone()
  const blocks = readWalkThrough(path.join(clone.folder, 'README.md'))
  assert.equal(
    blocks.length,
    expected.length,
    'every block of the walk-through is expected to print something',
  )
  // curl itself fails on an error's status, without the README having to say so.
  await writeFile(path.join(clone.folder, '.curlrc'), 'fail-with-body\n')
  const { stdout } = await run('bash', ['-c', scriptOf(blocks, separator)], {
    env: { ...process.env, ...clone.env, CURL_HOME: clone.folder },
    // The schedule's next time is two minutes away at the most.
    timeout: 240_000,
  })
  const printed = stdout.split(separator)
  for (const [i, pattern] of expected.entries()) assert.match(printed[i] ?? '', pattern)
  assert.equal(await clone.interrupt(), 0, 'Ctrl-C ends it in order')
})
