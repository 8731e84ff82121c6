import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { RunDetails, Val } from '@valley/sdk/client.ts'
import { waitFor, waitUntil } from '@valley/server/testing/wait-until.ts'
import { messagesOf, openRunScene, type RunScene } from './runs/run-scene.ts'
import { returnedValues } from './runs/returned-values.ts'

const returnValueCharsMax = 65_536
const logLinesMax = 1_000

let scene: RunScene

before(async () => {
  scene = await openRunScene({ IDLE_WORKERS: '6' })
})
after(async () => {
  await scene[Symbol.asyncDispose]()
})

describe('a run by hand', { concurrency: true }, () => {
  describe('of a function', { concurrency: false }, () => {
    test('is called with its arguments, and what it returns is kept', async () => {
      const run = await scene.runCode('adds', 'export default (a: number, b: number) => ({ sum: a + b })', {
        args: [1, 2],
      })
      assert.deepEqual(
        [run.status, run.returnValue, run.returnValueCut, run.args, run.error],
        ['succeeded', { sum: 3 }, false, [1, 2], null],
      )
      assert.ok(run.runStartAt !== null && run.runEndAt !== null && run.timings.runMs >= 0)
    })

    test('is called in a worker that keeps the state of its module from run to run', async () => {
      const val = await scene.save('counts', 'let calls = 0; export default () => ++calls')
      const counts: unknown[] = []
      for (let i = 0; i < 5; i++) counts.push((await scene.run(val)).returnValue)
      // The first run of a version is by itself: only it can tell that there is a function.
      assert.deepEqual(counts, [1, 1, 2, 3, 4])
    })

    test('knows its own id and prints into its own record, also beside others', async () => {
      const code = `export default async (marker: string) => {
        console.log(marker, valley.runId)
        await new Promise((done) => setTimeout(done, Math.random() * 100))
        console.log(marker, valley.runId)
        return valley.runId
      }`
      const val = await scene.save('knows_itself', code)
      await scene.run(val)
      const begun = await Promise.all(
        Array.from({ length: 20 }, async (_, at) => scene.begin(val, { args: [`m${at}`] })),
      )
      for (const [at, { id }] of begun.entries()) {
        const run = await scene.untilEnded({ id })
        assert.equal(run.returnValue, id)
        assert.deepEqual(messagesOf(run), [`m${at} ${id}`, `m${at} ${id}`])
      }
    })

    test('of any form is called: async, an object that can be scheduled, one that answers requests', async () => {
      const later = await scene.runCode(
        'is_async',
        'export default async (x: string) => Promise.resolve(x)',
        {
          args: ['later'],
        },
      )
      assert.equal(later.returnValue, 'later')
      const app = await scene.runCode('is_app', 'export default { fetch: () => new Response("hello") }')
      assert.deepEqual([app.status, app.error?.name], ['failed', 'TypeError'])
      assert.match(app.error?.message ?? '', /cannot be called/)
    })
  })

  describe('of a plain script', { concurrency: false }, () => {
    test('runs from top to bottom in an isolate of its own, each time anew', async () => {
      const code = `const seen = globalThis as unknown as { count?: number }
        seen.count = (seen.count ?? 0) + 1
        console.log("count", seen.count, String([].push === Array.prototype.push), typeof Math.max)
        Array.prototype.push = () => 7
        // @ts-ignore
        Math.max = "broken"
        JSON.stringify = () => "broken"
        Object.prototype.toString = () => "broken"
        await new Promise((done) => setTimeout(done, 5))`
      const val = await scene.save('anew', code)
      for (let i = 0; i < 4; i++) {
        const run = await scene.run(val)
        assert.deepEqual(
          [run.status, run.returnValue, messagesOf(run)],
          ['succeeded', null, ['count 1 true function']],
        )
      }
    })

    test('finds its id and its arguments, which it cannot change for anybody', async () => {
      const code = `console.log(valley.runId, JSON.stringify(valley.args))
        try { valley.args = [] } catch (error) { console.log((error as Error).name) }
        try { Object.defineProperty(globalThis, "valley", { value: 1 }) } catch (error) { console.log((error as Error).name) }`
      const run = await scene.runCode('finds_args', code, { args: ['a', { b: 2 }] })
      assert.deepEqual(messagesOf(run), [`${run.id} ["a",{"b":2}]`, 'TypeError', 'TypeError'])
    })

    test('beside others of the same val is apart from them', async () => {
      const code = `const mine = valley.args[0]
        const shared = globalThis as unknown as { owner?: string }
        console.log("found", shared.owner ?? "nobody")
        shared.owner = mine
        for (let i = 0; i < 10; i++) await new Promise((done) => setTimeout(done, 20))
        console.log("kept", shared.owner)
        export default shared.owner`
      const val = await scene.save('apart', code)
      const begun = await Promise.all(
        Array.from({ length: 16 }, async (_, at) => scene.begin(val, { args: [`run ${at}`] })),
      )
      for (const [at, { id }] of begun.entries()) {
        const run = await scene.untilEnded({ id })
        assert.deepEqual(messagesOf(run), ['found nobody', `kept run ${at}`])
        assert.equal(run.returnValue, `run ${at}`)
      }
    })

    test('does not see what another run did to the variables of the process', async () => {
      const code = `console.log(Deno.env.get("LEFT_BEHIND") ?? "nothing", process.env["LEFT_TOO"] ?? "nothing")
        Deno.env.set("LEFT_BEHIND", "something")
        process.env["LEFT_TOO"] = "something"`
      const val = await scene.save('leaves_env', code)
      for (let i = 0; i < 3; i++) assert.deepEqual(messagesOf(await scene.run(val)), ['nothing nothing'])
    })

    test('with a default export that is no function has it as its value', async () => {
      assert.equal((await scene.runCode('is_42', 'console.log("once"); export default 42')).returnValue, 42)
      const run = await scene.runCode('is_object', 'export default { deep: [1, { er: null }] }')
      assert.deepEqual([run.status, run.returnValue], ['succeeded', { deep: [1, { er: null }] }])
      assert.equal((await scene.runCode('is_nothing', '// nothing at all')).returnValue, null)
    })
  })

  describe('returns', { concurrency: false }, () => {
    for (const [what, { code, value, text, isCalled }] of Object.entries(returnedValues)) {
      test(`${what}, from a function and from a plain script`, async () => {
        const name = what.replaceAll(/[^a-z]+/gi, '_')
        const val = await scene.save(`gives_${name}`, `export default () => (${code})`)
        const [first, warm] = [await scene.run(val), await scene.run(val)]
        const script = await scene.runCode(`is_${name}`, `const made = ${code}; export default made`)
        for (const run of isCalled ? [first, warm] : [first, warm, script]) {
          assert.equal(run.status, 'succeeded', JSON.stringify(run.error))
          assert.equal(run.returnValueCut, text !== undefined)
          if (text === undefined) assert.deepEqual(run.returnValue, value)
          else assert.match(String(run.returnValue), text)
          assert.ok(String(run.returnValue).length <= returnValueCharsMax + 1)
        }
      })
    }
  })

  describe('that fails says what to mend', { concurrency: false }, () => {
    const fails = async (name: string, code: string) => {
      const { status, error } = await scene.runCode(name, code)
      assert.equal(status, 'failed')
      return error ?? assert.fail()
    }

    test('throwing, at once and later, in a function and in a plain script: in its own lines', async () => {
      for (const [name, code, line] of [
        ['throws_now', 'export default () => {\n  throw new RangeError("no")\n}', 2],
        ['throws_later', 'export default async () => {\n  await 1\n  throw new RangeError("no")\n}', 3],
        ['throws_at_top', 'const a = 1\nthrow new RangeError("no")', 2],
        ['throws_after_await', 'await Promise.resolve()\n\nthrow new RangeError("no")', 3],
      ] as const) {
        const error = await fails(name, code)
        assert.deepEqual([error.name, error.message], ['RangeError', 'no'])
        assert.match(error.stack ?? '', new RegExp(`${name}\\.tsx:${line}:\\d+`))
        assert.doesNotMatch(error.stack ?? '', /file:|data:|blob:|isolate|caller\.js|run-call/)
      }
    })

    test('throwing what is no error', async () => {
      const text = await fails('throws_words', 'export default () => { throw "just text" }')
      assert.deepEqual(text, { name: 'Thrown', message: 'just text' })
      const nothing = await fails('throws_nothing', 'throw null')
      assert.deepEqual(nothing, { name: 'Thrown', message: 'null' })
      const odd = `export default () => {
        throw Object.defineProperty(new Error("x"), "message", { get() { throw new Error("again") } })
      }`
      assert.equal((await fails('throws_odd', odd)).name, 'Thrown')
    })

    test('with a syntax error, or an import that is not there: with the line and the name', async () => {
      const syntax = await fails('bad_syntax', 'const a = 1\nconst b = = 2')
      assert.equal(syntax.name, 'SyntaxError')
      assert.match(`${syntax.message} ${syntax.stack}`, /bad_syntax\.tsx?:2:11/)
      assert.doesNotMatch(`${syntax.message} ${syntax.stack}`, /file:/)
      const missing = await fails('bad_import', 'import x from "npm:this-is-not-there-9f3a"\nconsole.log(x)')
      assert.match(missing.message, /this-is-not-there-9f3a/)
    })

    test('what nobody caught is printed, and the run goes on', async () => {
      const code = `queueMicrotask(() => { throw new RangeError("nobody caught this") })
        void Promise.reject(new TypeError("nor this"))
        setTimeout(() => { throw new Error("nor that") }, 1)
        await new Promise((done) => setTimeout(done, 100))
        export default "still here"`
      const run = await scene.runCode('uncaught_script', code)
      assert.deepEqual([run.status, run.returnValue], ['succeeded', 'still here'])
      const printed = messagesOf(run).join('\n')
      for (const words of ['nobody caught this', 'nor this', 'nor that'])
        assert.match(printed, new RegExp(words))
    })
  })

  describe('that does harm, to itself only', { concurrency: false }, () => {
    /** Code that can also be asked what its whole process takes of the processor while it does nothing itself. */
    const measured = (code: string) => `const [what] = valley.args
      let cpuMs = null
      if (what === "measure") {
        const before = process.cpuUsage()
        await new Promise((done) => setTimeout(done, 500))
        const { user, system } = process.cpuUsage(before)
        cpuMs = (user + system) / 1000
      }
      else { ${code} }
      export default cpuMs`
    const untilQuiet = async (val: Val) =>
      waitUntil('its process does nothing', async () => {
        const { returnValue } = await scene.run(val, { args: ['measure'] })
        assert.ok(typeof returnValue === 'number')
        return returnValue < 200
      })

    test('a script in an endless loop ends when it is canceled, and its val can be run again', async () => {
      const code =
        'for (let last = 0; ; ) if (Date.now() - last > 200) console.log("looping", last = Date.now())'
      const val = await scene.save('loops', measured(code))
      const run = await scene.begin(val, { args: ['loop'] })
      await scene.untilPrinted(val, 'looping')
      const asked = await scene.scene.alice.runs.cancel(run.id)
      assert.equal(asked.status, 'running')
      const ended = await scene.untilEnded(run)
      assert.deepEqual([ended.status, ended.error?.name], ['canceled', 'Canceled'])
      assert.ok(
        messagesOf(ended).some((line) => line.startsWith('looping')),
        'what it printed is kept',
      )
      await untilQuiet(val)
      await assert.doesNotReject(scene.scene.alice.runs.cancel(run.id))
    })

    test('what a script leaves running ends with it', async () => {
      const code = 'setInterval(() => { const until = Date.now() + 45; while (Date.now() < until) {} }, 50)'
      const val = await scene.save('leaves_timers', measured(code))
      assert.equal((await scene.run(val, { args: ['leave'] })).status, 'succeeded')
      await untilQuiet(val)
    })

    test('a function that is canceled ends with its worker, and the next run has another', async () => {
      const code = `let calls = 0
        export default async (seconds: number) => {
          calls++
          for (let i = 0; i < seconds * 10; i++) {
            if (i % 5 === 0) console.log("busy")
            await new Promise((done) => setTimeout(done, 100))
          }
          return calls
        }`
      const val = await scene.save('canceled_alone', code)
      const countOf = async () => (await scene.run(val, { args: [0] })).returnValue
      assert.deepEqual([await countOf(), await countOf(), await countOf()], [1, 1, 2])
      const run = await scene.begin(val, { args: [60] })
      await scene.untilPrinted(val, 'busy')
      await scene.scene.alice.runs.cancel(run.id)
      assert.equal((await scene.untilEnded(run)).status, 'canceled')
      assert.equal(await countOf(), 1)
    })

    test('a function in an endless loop is ended, says so, and its val can be run again', async () => {
      const val = await scene.save(
        'stalls',
        'export default (loop: boolean) => { while (loop) {} return "well" }',
      )
      assert.equal((await scene.run(val, { args: [false] })).status, 'succeeded')
      assert.equal((await scene.run(val, { args: [false] })).status, 'succeeded')
      const run = await scene.run(val, { args: [true] })
      assert.deepEqual([run.status, run.error?.name], ['timed_out', 'WorkerKilled'])
      assert.match(run.error?.message ?? '', /endless loop/)
      assert.equal((await scene.run(val, { args: [false] })).returnValue, 'well')
    })

    test('a script that ends its own process says so', async () => {
      for (const [name, end] of [
        ['exits', 'Deno.exit(0)'],
        ['exits_node', '(await import("node:process")).exit(1)'],
        ['closes', 'self.close()'],
      ] as const) {
        const run = await scene.runCode(name, `console.log("before"); ${end}; await new Promise(() => {})`)
        assert.equal(run.status, 'failed', name)
        assert.match(run.error?.message ?? '', /Deno\.exit\(\)/, name)
        assert.deepEqual(messagesOf(run), ['before'])
      }
    })

    test('a function that ends its own process says so, and its val can be run again', async () => {
      const val = await scene.save(
        'exiting',
        'export default (exit: boolean) => { if (exit) Deno.exit(3); return "well" }',
      )
      for (const warmth of ['fresh', 'warm']) {
        const run = await scene.run(val, { args: [true] })
        assert.equal(run.status, 'failed', warmth)
        assert.match(run.error?.message ?? '', /Deno\.exit\(\)/, warmth)
        await waitUntil(
          'it runs again',
          async () => (await scene.run(val, { args: [false] })).returnValue === 'well',
        )
      }
    })

    test('a script that takes all memory fails with that, and a neighbour notices nothing', async () => {
      const neighbour = await scene.save(
        'neighbour',
        `let ticks = 0
        for (let i = 0; i < 40; i++) { await new Promise((done) => setTimeout(done, 50)); ticks++ }
        export default ticks`,
      )
      const beside = await scene.begin(neighbour)
      const bomb = await scene.runCode(
        'bomb',
        'const all = []; for (;;) all.push(new Array(1e5).fill(Math.random()))',
      )
      assert.equal(bomb.status, 'failed')
      assert.equal(bomb.error?.name, 'OutOfMemory')
      assert.equal((await scene.untilEnded(beside)).returnValue, 40)
    })

    test('a script may start isolates of its own', async () => {
      const code = `const url = URL.createObjectURL(new Blob([
          "setInterval(() => postMessage('tick'), 20)",
        ], { type: "text/javascript" }))
        const inner = new Worker(url, { type: "module" })
        const ticks = await new Promise((done) => {
          let ticks = 0
          inner.onmessage = () => ++ticks === 3 && done(ticks)
          inner.onerror = (event) => { event.preventDefault(); done(event.message) }
        })
        export default ticks`
      const run = await scene.runCode('nests', code)
      assert.equal(run.status, 'succeeded', JSON.stringify(run.error))
    })

    test('what a script forges is believed about its own run only, and ends that', async () => {
      const victim = await scene.begin(
        await scene.save(
          'victim',
          'await new Promise((done) => setTimeout(done, 3000)); export default "own"',
        ),
      )
      const forged = `{ kind: "returned", text: '"forged"', isCut: false, hasDefault: true }`
      const code = `const other = valley.args[0]
        postMessage(null)
        postMessage("text")
        postMessage({ kind: "log", runId: other, level: "info", message: "of another" })
        postMessage({ kind: "ready" })
        postMessage({ ...${forged}, runId: other })
        await new Promise((done) => setTimeout(done, 500))
        console.log("never heard")
        export default "never returned"`
      const run = await scene.runCode('forger', code, { args: [victim.id] })
      assert.deepEqual([run.status, run.returnValue], ['succeeded', 'forged'])
      assert.deepEqual(messagesOf(run), ['of another'])
      const untouched = await scene.untilEnded(victim)
      assert.deepEqual([untouched.returnValue, messagesOf(untouched)], ['own', []])
    })

    test('what a script says that has no meaning ends its own worker at the most', async () => {
      for (const [at, nonsense] of [
        '{ kind: "nonsense" }',
        '{ kind: "returned" }',
        '{ kind: "returned", text: "[".repeat(30000) + "]".repeat(30000), isCut: false, hasDefault: true }',
        '{ kind: "threw", error: 1 }',
        '{ kind: "pong", number: 1e9 }',
        '{ kind: "load_failed", error: { name: "a", message: "b" } }',
      ].entries()) {
        const run = await scene.runCode(
          `nonsense_${at}`,
          `postMessage(${nonsense}); await new Promise((done) => setTimeout(done, 300))`,
        )
        assert.ok(['succeeded', 'failed'].includes(run.status), `${nonsense}: ${run.status}`)
      }
      assert.equal((await scene.runCode('after_nonsense', 'export default "well"')).returnValue, 'well')
    })

    test('what is printed without end is cut, and the run goes on', async () => {
      const storm = 'for (let i = 0; i < 50_000; i++) console.log("line", i)'
      const val = await scene.save('storms', `export default () => { ${storm}; return "through" }`)
      const script = await scene.runCode('storms_script', `${storm}\nexport default "through"`)
      for (const run of [await scene.run(val), await scene.run(val), script]) {
        assert.deepEqual([run.status, run.returnValue], ['succeeded', 'through'])
        assert.equal(run.logs.length, logLinesMax + 1)
        assert.match(messagesOf(run).at(-1) ?? '', /^Cut here/)
      }
    })
  })

  describe('beside what else happens to its val', { concurrency: false }, () => {
    /** Prints again and again until its time is up; the first run of it is by itself, later ones share a worker. */
    const ticking = (version: number) => `export default async (seconds: number) => {
      for (let i = 0; i < seconds * 10; i++) {
        if (i % 5 === 0) console.log("tick of v${version}", i)
        await new Promise((done) => setTimeout(done, 100))
      }
      return "v${version} to its end"
    }`

    test('it is canceled while another in the same worker goes on to its end', async () => {
      const val = await scene.save('shared_worker', ticking(1))
      await scene.run(val, { args: [0] })
      await scene.run(val, { args: [0] })
      const [canceled, other] = [
        await scene.begin(val, { args: [60] }),
        await scene.begin(val, { args: [4] }),
      ]
      await scene.untilPrinted(val, 'tick of v1')
      await scene.scene.alice.runs.cancel(canceled.id)
      assert.deepEqual([(await scene.untilEnded(canceled)).status], ['canceled'])
      const ended = await scene.untilEnded(other)
      assert.deepEqual([ended.status, ended.returnValue], ['succeeded', 'v1 to its end'])
      assert.equal((await scene.run(val, { args: [0] })).status, 'succeeded')
    })

    test('it goes on in the version that it began with while a newer one is saved and run', async () => {
      for (const isWarm of [false, true]) {
        const name = isWarm ? 'saved_meanwhile' : 'saved_meanwhile_fresh'
        const val = await scene.save(name, ticking(1))
        if (isWarm) for (let i = 0; i < 2; i++) await scene.run(val, { args: [0] })
        const old = await scene.begin(val, { args: [5] })
        await scene.untilPrinted(val, 'tick of v1')
        await scene.save(name, ticking(2))
        const newer = await scene.run(val, { args: [0] })
        assert.deepEqual([newer.returnValue, newer.val.version], ['v2 to its end', 2])
        const ended = await scene.untilEnded(old)
        assert.deepEqual([ended.returnValue, ended.val.version], ['v1 to its end', 1])
      }
    })

    test('a variable that changes is seen by the next run, and not by the one under way', async () => {
      const code = `export default async (seconds: number) => {
        for (let i = 0; i < seconds * 10; i++) {
          if (i % 5 === 0) console.log("waiting")
          await new Promise((done) => setTimeout(done, 100))
        }
        return Deno.env.get("WORD") ?? null
      }`
      const val = await scene.save('sees_env', code)
      await scene.scene.alice.vals.env.set(val.id, 'WORD', 'old')
      assert.equal((await scene.run(val, { args: [0] })).returnValue, 'old')
      const underWay = await scene.begin(val, { args: [3] })
      await scene.untilPrinted(val, 'waiting')
      await scene.scene.alice.vals.env.set(val.id, 'WORD', 'new')
      assert.equal((await scene.run(val, { args: [0] })).returnValue, 'new')
      assert.equal((await scene.untilEnded(underWay)).returnValue, 'old')
    })

    test('of a val that is deleted meanwhile there is nothing left to see', async () => {
      const val = await scene.save('deleted_meanwhile', ticking(1))
      const hasBegun = await scene.begin(val, { args: [3] })
      await scene.untilPrinted(val, 'tick of v1')
      await scene.scene.alice.vals.delete(val.id)
      await assert.rejects(scene.scene.alice.runs.get(hasBegun.id), { code: 'not_found' })
      await assert.rejects(scene.begin(val), { code: 'not_found' })
    })
  })

  describe('that takes long', { concurrency: false }, () => {
    test('goes on for longer than its runner may be silent', async () => {
      const code = 'await new Promise((done) => setTimeout(done, 40_000)); export default "at last"'
      const run = await scene.runCode('patient', code)
      assert.deepEqual([run.status, run.returnValue], ['succeeded', 'at last'])
      assert.ok(run.timings.runMs >= 39_000)
    })
  })

  describe('that is tried again', { concurrency: false }, () => {
    test('is a chain of runs, each after a longer pause, until it succeeds or has been tried often enough', async () => {
      const code = 'export default (fail: boolean) => { if (fail) throw new Error("again") }'
      const val = await scene.save('tried', code)
      const first = await scene.begin(val, { args: [true], retry: { attempts: 3, backoffSeconds: 1 } })
      const chain = await untilChainEnded(first.id, 3)
      assert.deepEqual(
        chain.map(({ status, parentId, args }) => [status, parentId, args]),
        [
          ['failed', null, [true]],
          ['failed', chain[0]?.id, [true]],
          ['failed', chain[1]?.id, [true]],
        ],
      )
      const pauses = [1, 2].map((at) => startOf(chain[at]) - endOf(chain[at - 1]))
      assert.ok(pauses[0] !== undefined && pauses[0] >= 950, `paused ${pauses[0]} ms`)
      assert.ok(pauses[1] !== undefined && pauses[1] >= 1_950, `paused ${pauses[1]} ms`)
      const once = await scene.run(val, { args: [false], retry: { attempts: 3, backoffSeconds: 0 } })
      assert.equal(once.status, 'succeeded')
      assert.equal((await scene.scene.alice.vals.runs.list(val.id)).data.length, 4)
    })

    test('is not tried again once it is canceled, also between two attempts', async () => {
      const val = await scene.save('given_up', 'export default () => { throw new Error("again") }')
      const first = await scene.begin(val, { retry: { attempts: 5, backoffSeconds: 3_600 } })
      await scene.untilEnded(first)
      const [retry] = (await scene.scene.alice.vals.runs.list(val.id)).data
      assert.deepEqual([retry?.status, retry?.parentId], ['queued', first.id])
      assert.equal((await scene.scene.alice.runs.cancel(retry?.id ?? '')).status, 'canceled')
      assert.equal((await scene.scene.alice.vals.runs.list(val.id)).data.length, 2)
    })

    async function untilChainEnded(id: string, length: number): Promise<readonly RunDetails[]> {
      const chain = [await scene.untilEnded({ id })]
      while (chain.length < length) {
        const next = await waitFor(`attempt ${chain.length + 1}`, async () => {
          const { data } = await scene.scene.alice.vals.runs.list(chain[0]?.val.id ?? '')
          return data.find(({ parentId }) => parentId === chain.at(-1)?.id) ?? null
        })
        chain.push(await scene.untilEnded(next))
      }
      return chain
    }

    const startOf = (run: RunDetails | undefined) => Date.parse(run?.runStartAt ?? '')
    const endOf = (run: RunDetails | undefined) => Date.parse(run?.runEndAt ?? '')
  })

  describe('of whose val', { concurrency: false }, () => {
    test('its owner runs a private val, and nobody runs another’s', async () => {
      const code = 'export default () => "mine"'
      const hidden = await scene.save('hidden', code, { privacy: 'private' })
      assert.equal((await scene.run(hidden)).returnValue, 'mine')
      await assert.rejects(scene.scene.bob.vals.run(hidden.id), { code: 'not_found' })
      const shown = await scene.save('shown', code, { privacy: 'public' })
      await assert.rejects(scene.scene.bob.vals.run(shown.id), { code: 'forbidden' })
    })

    test('a val that answers requests can be run by hand as well', async () => {
      const code = `let calls = 0
        export default (request?: Request) => {
          calls++
          return request instanceof Request ? new Response("answered " + calls) : "called " + calls
        }`
      const val = await scene.save('both_ways', code, { type: 'http' })
      assert.equal((await scene.scene.call('both_ways')).text, 'answered 1')
      assert.equal((await scene.run(val)).returnValue, 'called 2')
      assert.equal((await scene.scene.call('both_ways')).text, 'answered 3')
      const app = await scene.save('only_fetch', 'export default { fetch: () => new Response("hi") }', {
        type: 'http',
      })
      const run = await scene.run(app)
      assert.deepEqual([run.status, run.error?.name], ['failed', 'NothingToCall'])
    })
  })
})

describe('a run whose runner', { concurrency: false }, () => {
  const crowdSize = 40
  const ticks = `const until = Date.now() + valley.args[0] * 1000
    for (let at = 0; Date.now() < until; at++) {
      if (at % 5 === 0) console.log("tick")
      await new Promise((done) => setTimeout(done, 100))
    }
    export default "to its end"`

  test('stops in good order finishes if it is short, waits for another if it had not begun, and else fails', async () => {
    const { runner } = scene.scene.world
    const [long, crowded] = [await scene.save('long', ticks), await scene.save('crowded', ticks)]
    const longRun = await scene.begin(long, { args: [120] })
    await scene.untilPrinted(long, 'tick')
    const crowd = await Promise.all(
      Array.from({ length: crowdSize }, async () => scene.begin(crowded, { args: [2] })),
    )
    await scene.untilPrinted(crowded, 'tick')
    const stoppedAtMs = performance.now()
    assert.equal((await runner?.terminate())?.code, 0)
    assert.ok(performance.now() - stoppedAtMs < 29_000, 'it took too long to stop')

    const cut = await scene.untilEnded(longRun)
    assert.deepEqual([cut.status, cut.error?.name], ['failed', 'RunnerStopped'])
    assert.match(cut.error?.message ?? '', /stopped.*run it again/s)
    const waiting = await waitFor('what was begun is recorded', async () => {
      const runs = await Promise.all(crowd.map(async ({ id }) => scene.scene.alice.runs.get(id)))
      return runs.some(({ status }) => status === 'running')
        ? null
        : runs.filter(({ status }) => status === 'queued')
    })
    assert.ok(waiting.length > 0 && waiting.length < crowdSize, `${waiting.length} of ${crowdSize} wait`)

    await runner?.restart()
    for (const run of crowd) {
      const ended = await scene.untilEnded(run)
      assert.deepEqual([ended.status, ended.returnValue], ['succeeded', 'to its end'])
      assert.ok(ended.logs.length > 0 && ended.logs.length <= 8, `${ended.logs.length} ticks: it ran once`)
    }
  })

  test('is killed is called lost within a minute, and is tried again where that was asked for', async () => {
    const { runner } = scene.scene.world
    const val = await scene.save(
      'orphaned',
      ticks.replace('Date.now() + valley.args[0] * 1000', 'valley.args[0]'),
    )
    const args = [Date.now() + 25_000]
    const [once, twice] = [
      await scene.begin(val, { args }),
      await scene.begin(val, { args, retry: { attempts: 2, backoffSeconds: 0 } }),
    ]
    await scene.untilPrinted(val, 'tick')
    await Promise.all([once, twice].map(async (run) => scene.untilRunning(run)))
    await runner?.kill()
    const killedAtMs = performance.now()
    await runner?.restart()
    for (const run of [once, twice]) {
      const lost = await scene.untilEnded(run)
      assert.deepEqual([lost.status, lost.error?.name], ['failed', 'RunnerLost'])
      assert.match(lost.error?.message ?? '', /run it again if it can bear that/)
    }
    const lostAfterMs = performance.now() - killedAtMs
    assert.ok(lostAfterMs > 20_000 && lostAfterMs < 60_000, `lost after ${lostAfterMs} ms`)
    const { data } = await scene.scene.alice.vals.runs.list(val.id)
    const retries = data.filter(({ parentId }) => parentId !== null)
    assert.deepEqual(
      retries.map(({ parentId }) => parentId),
      [twice.id],
    )
    const again = await scene.untilEnded(retries[0] ?? assert.fail())
    assert.deepEqual([again.status, again.returnValue], ['succeeded', 'to its end'])
  })
})
