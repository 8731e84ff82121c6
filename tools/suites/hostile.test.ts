import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { limits } from '@valley/contract/limits.ts'
import { runSql } from '../services/run-sql.ts'
import { openWorld, type World } from '../world/open-world.ts'
import { families, rawCount } from './hostile/families.ts'
import { answerMsMax, findOffence } from './hostile/judge.ts'
import { ask, prepareTarget } from './hostile/prepare-target.ts'
import { rawCases, type RawCase } from './hostile/raw-cases.ts'
import { countsSql, inventorySql } from './hostile/row-counts.ts'
import { send, sendRaw } from './hostile/send.ts'
import { Tally } from './hostile/tally.ts'
import { bytesOf, type HostileRequest, type Target } from './hostile/target.ts'
import { type MemoryWatch, watchMemory } from './hostile/watch-memory.ts'

const requestsMin = 10_000
const parallel = 8
const memoryGrowthMiBMax = 384
const seed = Number(process.env['HOSTILE_SEED'] ?? Math.trunc(Math.random() * 2 ** 31))
const serverEnv = { RATE_LIMIT_PER_MINUTE: '10000000', RATE_LIMIT_ANONYMOUS_PER_MINUTE: '10000000' }

test('10,000 hostile requests are each refused or answered, within a second and in bounded memory', async () => {
  console.log(`HOSTILE_SEED=${seed}`)
  await using world = await openWorld({ serverEnv, durable: false })
  const { databaseUrl } = world.services
  const target = await prepareTarget(world)
  const inventory = await runSql(databaseUrl, inventorySql)
  const counts = await readCounts(databaseUrl)
  using memory = watchMemory(world.server.pid)
  const tally = new Tally()

  await inParallel(generate(target), async (hostile) => attack(target, tally, hostile))

  tally.print()
  assert.ok(tally.requests >= requestsMin)
  await assertUnharmed(world, tally, memory)
  assert.equal(await runSql(databaseUrl, inventorySql), inventory)
  const newVals = tally.created('val')
  assert.deepEqual(await readCounts(databaseUrl), {
    vals: counts.vals + newVals,
    documents: counts.documents + newVals,
    versioned: counts.versioned + newVals,
    comments: counts.comments + tally.created('comment'),
    tokens: counts.tokens + tally.created('token'),
    smuggled: 0,
  })
})

test('pages of the largest vals are answered within a second and in bounded memory', async () => {
  await using world = await openWorld({ serverEnv, durable: false })
  const { url, tokens } = world
  const target = await prepareTarget(world)
  const line = 'export const largest = 1\n'
  const code = line.repeat(limits.codeCharsMax / line.length)
  const numbers = Array.from({ length: limits.pageItemsMax }, (_, index) => index)
  await inParallel(numbers, async (number) => {
    const body = { code: `// ${number}\n${code}`.slice(0, limits.codeCharsMax) }
    const { id } = await ask(url, tokens.alice, { method: 'POST', path: '/v1/vals', body })
    await ask(url, tokens.alice, { method: 'PUT', path: `/v1/me/likes/${String(id)}` })
  })
  using memory = watchMemory(world.server.pid)
  const tally = new Tally()
  const lists = [
    '/v1/me/vals?',
    '/v1/me/likes?',
    `/v1/users/${target.own['user_id']}/vals?`,
    '/v1/search/vals?query=largest&',
  ]
  const headers = { authorization: `Bearer ${tokens.alice}`, 'accept-encoding': 'br' }
  const pages = lists.flatMap((list) => Array<string>(parallel).fill(`${list}limit=${limits.pageItemsMax}`))
  await inParallel(pages, async (path) =>
    attack(target, tally, { family: path, operation: null, method: 'GET', path, headers, body: null }),
  )
  tally.print()
  await assertUnharmed(world, tally, memory)
})

async function assertUnharmed(world: World, tally: Tally, memory: MemoryWatch): Promise<void> {
  const { beforeMiB, peakMiB } = memory
  console.log(
    `${tally.requests} requests, slowest ${Math.round(tally.slowestMs)} ms ` +
      `(${Math.round(tally.slowestWallMs)} ms with what the machine gave to others); ` +
      `server memory ${beforeMiB} MiB before, ${peakMiB} at most, ${memory.nowMiB()} after`,
  )
  for (const offence of tally.offences) console.log(offence)
  assert.deepEqual(tally.offences, [])
  assert.equal(
    tally.withStatus((status) => status >= 500),
    0,
  )
  assert.ok(tally.slowestMs < answerMsMax, `an answer took ${tally.slowestMs} ms`)
  assert.ok(peakMiB - beforeMiB < memoryGrowthMiBMax, `the server took ${peakMiB - beforeMiB} MiB more`)
  assert.equal((await fetch(`${world.url}/readyz`)).status, 200)
}

type Attack = HostileRequest | RawCase

/** All of them in one random order, so that each meets the server in ever other company. */
function generate(target: Target): readonly Attack[] {
  const requests = families.flatMap(([count, make]) => fc.sample(make(target), { seed, numRuns: count }))
  const raw = fc.sample(rawCases(target), { seed, numRuns: rawCount })
  const every: readonly Attack[] = [...requests, ...raw]
  const anyOrder = fc.shuffledSubarray([...every.keys()], { minLength: every.length })
  return fc
    .sample(anyOrder, { seed, numRuns: 1 })
    .flatMap((order) => order.flatMap((index) => every[index] ?? []))
}

async function attack(target: Target, tally: Tally, hostile: Attack): Promise<void> {
  const isRaw = 'pieces' in hostile
  const answers = isRaw ? await sendRaw(target, hostile) : [await send(target, hostile)]
  for (const answer of answers) {
    tally.add(isRaw ? 'raw sockets' : hostile.family, answer)
    const isLost = !isRaw && answer.status === 0
    const offence = isLost ? 'no answer' : findOffence(isRaw ? null : hostile.operation, answer)
    if (offence === null) continue
    const { status, durationMs, text } = answer
    const what = isRaw ? hostile.name : describe(hostile)
    tally.blame(
      `${offence}: ${status} after ${Math.round(durationMs)} ms to ${what}\n  ${text.slice(0, 300)}`,
    )
  }
}

function describe({ family, method, path, body }: HostileRequest): string {
  const start = String(bytesOf(body) ?? '').slice(0, 200)
  return `[${family}] ${method} ${path.slice(0, 200)} ${start}`
}

async function inParallel<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const waiting = items.values()
  await Promise.all(
    Array.from({ length: parallel }, async () => {
      for (const item of waiting) await work(item)
    }),
  )
}

async function readCounts(databaseUrl: string) {
  const line = await runSql(databaseUrl, countsSql)
  const [vals = 0, documents = 0, versioned = 0, comments = 0, tokens = 0, smuggled = 0] = line
    .split(' ')
    .map(Number)
  return { vals, documents, versioned, comments, tokens, smuggled }
}
