import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import type { RunDetails } from '@valley/sdk/client.ts'
import type { Attack, Outcome } from '../../attacks/attack.ts'
import { callVal, until, type ValAnswer } from './call-val.ts'
import type { Scene } from './scene.ts'

export interface Blow {
  readonly answer: ValAnswer
  readonly run: RunDetails
}

const recordedWithinMs = 10_000

/** Saves the val, calls it and finds its run. Judging is for the caller. */
export async function strike(scene: Scene, attack: Attack, number: number): Promise<Blow[]> {
  const name = `attack${number}`
  const { id } = await scene.alice.vals.put({ name, type: 'http', privacy: 'unlisted', code: attack.code })
  await scene.alice.vals.env.set(id, 'OWN', 'mine')
  const address = scene.addressOf(id.replaceAll('-', ''))
  const blows: Blow[] = []
  for (const count of attack.twice ? [1, 2] : [1]) {
    using agent = openAgent(attack)
    const answer = await callVal(address, attack.request, agent.agent)
    if (attack.request?.thenNeighbour) {
      const after = await callVal(scene.neighbourAddress, {}, agent.agent)
      assert.match(after.text, /^[0-9a-f-]{36} \d+$/, 'the neighbour, asked on the same connection, answered')
    }
    const run = await findRun(scene, id, count).catch((error: Error) => {
      throw new Error(`${error.message}; the answer was ${answer.kind} ${answer.text.slice(0, 1_000)}`)
    })
    blows.push({ answer, run })
  }
  return blows
}

/** One connection for whoever comes next, as a proxy would use it. */
function openAgent({ request }: Attack): Disposable & { readonly agent: Agent | false } {
  const agent = request?.thenNeighbour ? new Agent({ keepAlive: true, maxSockets: 1 }) : false
  return { agent, [Symbol.dispose]: () => agent && agent.destroy() }
}

/** Newest first, so the run of the last call is the first once there are as many as calls. */
async function findRun({ alice }: Scene, valId: string, count: number): Promise<RunDetails> {
  const runId = await until(
    async () => {
      const { data } = await alice.vals.runs.list(valId)
      return data.length >= count ? (data[0]?.id ?? null) : null
    },
    { withinMs: recordedWithinMs, what: `run ${count} is recorded` },
  )
  return alice.runs.get(runId)
}

export function judge(blow: Blow, must: Outcome): void {
  const { orElse } = must
  const fits = ({ answer, run }: Outcome) => blow.answer.kind === answer && blow.run.status === run
  judgeAs(blow, orElse && !fits(must) && fits(orElse) ? orElse : must)
}

function judgeAs({ answer, run }: Blow, must: Outcome): void {
  const seen = `${answer.head}\n${answer.text}`
  const reasons = [
    run.error?.message ?? '',
    run.error?.stack ?? '',
    ...run.logs.map(({ message }) => message),
  ]
  const told = { answer: answer.kind, run: run.status, error: run.error?.name ?? null }
  assert.deepEqual(
    told,
    {
      answer: must.answer,
      run: must.run,
      error: must.error ?? (must.run === 'succeeded' ? null : told.error),
    },
    answer.text.slice(0, 2_000),
  )
  if (must.run !== 'succeeded') assert.ok(run.error?.message, 'the run says why')
  if (must.says) assert.match(reasons.join('\n').slice(0, 300_000), must.says)
  if (must.shows) assert.match(seen, must.shows)
  if (must.hides) assert.doesNotMatch(seen, must.hides)
  if (must.answerBytesMax) assert.ok(answer.bytes <= must.answerBytesMax, `${answer.bytes} bytes came`)
  if (must.refusesAll) judgeProbe(answer, reasons)
}

/** Each try on its own: refused, and the run's lines say with what. */
function judgeProbe({ text }: ValAnswer, lines: readonly string[]): void {
  const report = Object.entries(JSON.parse(text) as Record<string, string>)
  assert.ok(report.length > 0)
  const succeeded = report.filter(
    ([, result]) => !result.startsWith('refused: ') || result.includes('nobody said no'),
  )
  assert.deepEqual(Object.fromEntries(succeeded), {}, 'what was tried was refused')
  const silent = report.filter(([what]) => !lines.some((line) => line.startsWith(`${what} | `)))
  assert.deepEqual(
    silent.map(([what]) => what),
    [],
    'the run says why each was refused',
  )
}
