import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '@valley/runner/limits.ts'
import type { Attack } from '../attacks/attack.ts'
import { everyAttack } from '../attacks/every-attack.ts'
import { underRunsc } from '../attacks/under-runsc.ts'
import { callVal, until } from './attacks/call-val.ts'
import { countRemains, countWorkers, type RemainsCount } from './attacks/remains.ts'
import { printTable, type Row } from './attacks/report.ts'
import { openScene } from './attacks/scene.ts'
import { judge, strike } from './attacks/strike.ts'
import { readMetrics } from '../vals/runner-metrics.ts'
import { watchMemory } from './hostile/watch-memory.ts'

const hostileValsMin = 40
const runnerGrowthMiBMax = 256
/** The neighbour, the sibling, and those booted beforehand. */
const workersLeftMax = 2 + limits.idleWorkers

/** What every worker takes of the processor is measured in turn, and twice until it is held against one of them. */
const endMsMax = 30_000

/** `ATTACKS='network|files'` runs these only. */
const wanted = new RegExp(process.env['ATTACKS'] ?? '')
const sandbox = process.env['SANDBOX'] ?? 'runc'
const differences = sandbox === 'runsc' ? underRunsc : {}
const scene = await openScene({ sandbox })
const memory = watchMemory(scene.world.runner?.pid ?? process.pid)
const rows: Row[] = []
const attacks = everyAttack(scene.places)
  .map((attack, number) => ({ attack, number, title: `${attack.family}: ${attack.name}` }))
  .map(({ attack, ...rest }) => {
    const must = differences[rest.title]?.must ?? attack.must
    return { ...rest, attack: { ...attack, must } }
  })
  .filter(({ title }) => wanted.test(title))

after(async () => {
  memory[Symbol.dispose]()
  printTable(rows)
  for (const [title, { why }] of Object.entries(differences)) console.log(`differs: ${title}: ${why}`)
  console.log(`The neighbour over all: ${JSON.stringify(scene.neighbour.latenciesSince(0))} (ms)`)
  await scene[Symbol.asyncDispose]()
})

describe(`hostile vals in ${sandbox}`, { concurrency: false }, () => {
  test('what is public can be reached, and the attacks are many', async () => {
    const { standIn, alice, addressOf } = scene
    const code = `export default () => fetch('http://${standIn.publicAddress}:${standIn.port}/')`
    const { id } = await alice.vals.put({ name: 'reachesOut', type: 'http', privacy: 'unlisted', code })
    const { text } = await callVal(addressOf(id.replaceAll('-', '')))
    assert.equal(text, `served at ::ffff:${standIn.publicAddress}\n`)
    assert.ok(standIn.countAt(standIn.publicAddress) > 0)
    assert.ok(everyAttack(scene.places).length >= hostileValsMin)
  })

  describe('fail, one after the other', { concurrency: false }, () => {
    for (const { attack, number, title } of attacks.filter(({ attack }) => !attack.patient)) {
      test(title, { skip: skipReason(title) }, () => endure(attack, number))
    }
  })

  describe('fail side by side where they take their time', { concurrency: true }, () => {
    for (const { attack, number, title } of attacks.filter(({ attack }) => attack.patient)) {
      test(title, { skip: skipReason(title) }, () => endure(attack, number))
    }
  })

  test("somebody else's private val answers as a missing one does", async () => {
    const { alice, world, addressOf } = scene
    const code = "export default () => new Response('private')"
    await alice.vals.put({ name: 'hidden', type: 'http', privacy: 'private', code })
    const ask = (headers: Record<string, string>) => callVal(addressOf('alice--hidden'), { headers })
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
    const missing = await callVal(addressOf('alice--missing'))
    for (const headers of [{}, bearer(world.tokens.bob), bearer(`${world.tokens.alice}x`)]) {
      const { kind, text } = await ask(headers)
      assert.deepEqual({ kind, text }, { kind: missing.kind, text: missing.text })
    }
    assert.equal((await ask(bearer(world.tokens.alice))).text, 'private')
  })

  test('every run that did not succeed is among those of its owner, with its reason', async () => {
    const failed = new Map(
      rows.filter(({ blow }) => blow.run.status !== 'succeeded').map(({ blow }) => [blow.run.id, blow]),
    )
    for await (const run of scene.alice.me.runs.list({ error: true, limit: 100 })) {
      const blow = failed.get(run.id)
      if (blow) assert.deepEqual(run.error, blow.run.error)
      failed.delete(run.id)
    }
    assert.deepEqual([...failed.keys()], [])
  })

  test(
    'nothing is left of them, and the runner has not grown beyond a bound',
    { skip: sandbox === 'process' },
    async () => {
      const { world, names } = scene
      assert.ok(names !== null)
      const left = await until(
        async () => {
          const workers = await countWorkers(world.runnerStatusUrl)
          const remains = countRemains(names, world.runnerStateFolder)
          return workers <= workersLeftMax && isAccounted(remains, workers) ? { workers, ...remains } : null
        },
        { withinMs: 60_000, what: 'the workers of the attacks are gone, and all that was theirs' },
      )
      console.log(`left: ${JSON.stringify(left)}`)
      assert.equal(
        left.socketMounts,
        left.namespaces,
        'each place for a sandbox has one mount and one namespace',
      )
      const { beforeMiB, peakMiB } = memory
      console.log(
        `the runner's memory: ${beforeMiB} MiB before, ${peakMiB} at most, ${memory.nowMiB()} after`,
      )
      assert.ok(peakMiB - beforeMiB <= runnerGrowthMiBMax, `the runner grew by ${peakMiB - beforeMiB} MiB`)
      assert.deepEqual(scene.neighbour.offencesSince(0), [])
    },
  )
})

async function endure(attack: Attack, number: number): Promise<void> {
  const startMs = performance.now()
  const { endsWorker = [] } = attack.must
  const countEnds = async () => {
    const metrics = await readMetrics(scene.world.runnerStatusUrl)
    return endsWorker.reduce(
      (sum, cause) => sum + (metrics.get(`valley_worker_ends{cause="${cause}"}`) ?? 0),
      0,
    )
  }
  const endsBefore = await countEnds()
  const blows = await strike(scene, attack, number)
  if (endsWorker.length > 0) {
    const hasEnded = async () => ((await countEnds()) > endsBefore ? true : null)
    const what = `its worker is ended: ${endsWorker.join(' or ')}`
    await until(hasEnded, { withinMs: endMsMax, what })
  }
  const tookMs = performance.now() - startMs
  const harm = await scene.findHarm()
  // What it broke may show a moment later.
  await sleep(100)
  for (const blow of blows) {
    rows.push({
      attack,
      blow,
      tookMs: tookMs / blows.length,
      neighbour: scene.neighbour.latenciesSince(startMs),
      runnerMiB: memory.nowMiB(),
    })
    judge(blow, attack.must)
    const leaked = scene.canaries.secrets.filter((secret) => JSON.stringify(blow).includes(secret))
    assert.deepEqual(leaked, [], 'no secret is in the answer or the run')
  }
  assert.deepEqual(harm, [])
  assert.deepEqual(scene.neighbour.offencesSince(startMs), [])
}

/** One process, one cgroup and one container for each worker, as the kernel counts them. */
function isAccounted({ cgroups, processes, containers }: RemainsCount, workers: number): boolean {
  const hasGvisor = sandbox === 'runsc'
  return cgroups === workers && containers === workers && (hasGvisor || processes === workers)
}

function skipReason(title: string): string | false {
  const difference = differences[title]
  return difference && !difference.must ? difference.why : false
}
