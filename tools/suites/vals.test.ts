import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '@valley/runner/limits.ts'
import { waitUntil } from '@valley/server/testing/wait-until.ts'
import { untilSteady } from './vals/until-steady.ts'
import { openScene, readAnswer, type Answer, type Scene } from './vals/scene.ts'

const edits = 30
const codeCharsMax = 256_000

let scene: Scene

before(async () => {
  scene = await openScene({ IDLE_WORKERS: '6' })
})
after(async () => {
  await scene[Symbol.asyncDispose]()
})

describe('a val that runs', { concurrency: true }, () => {
  describe('saved and edited', { concurrency: false }, () => {
    test('a val of type http answers the moment it is saved', async () => {
      await scene.save('hello', 'export default () => new Response("Hello!")')
      const { status, text } = await scene.call('hello')
      assert.deepEqual({ status, text }, { status: 200, text: 'Hello!' })
    })

    test('once a save is answered, the very next answer is of the new version', async () => {
      for (let version = 1; version <= edits; version++) {
        await scene.save('edited', `export default () => new Response("v${version}")`)
        assert.equal((await scene.call('edited')).text, `v${version}`)
      }
    })

    test('requests that come together right after a save all get the new version', async () => {
      const val = await scene.save('herd', 'export default () => new Response("v0")')
      const labels = ['alice--herd', val.id.replaceAll('-', '')]
      await Promise.all(labels.map(async (label) => scene.callLabel(label)))
      for (let version = 1; version <= 10; version++) {
        await scene.save('herd', `export default () => new Response("v${version}")`)
        const calls = Array.from({ length: 20 }, async (_, at) => scene.callLabel(labels[at % 2] ?? ''))
        const answers = await Promise.all(calls)
        assert.deepEqual([...new Set(answers.map(({ text }) => text))], [`v${version}`])
      }
    })

    test('no request fails across an edit, whichever version it meets', async () => {
      const codeOf = (version: number) => `export default async () => {
        await new Promise((done) => setTimeout(done, Math.random() * 30))
        return new Response("v${version}")
      }`
      await scene.save('across', codeOf(0))
      const ending = new AbortController()
      const seen: Answer[] = []
      const clients = Array.from({ length: 20 }, async () => {
        while (!ending.signal.aborted) seen.push(await scene.call('across'))
      })
      for (let version = 1; version <= 5; version++) {
        await scene.save('across', codeOf(version))
        assert.equal((await scene.call('across')).text, `v${version}`)
      }
      ending.abort()
      await Promise.all(clients)
      const wrong = seen.filter(({ status, text }) => status !== 200 || !/^v[0-5]$/.test(text))
      assert.deepEqual(wrong, [])
      assert.ok(seen.length > 50, `only ${seen.length} requests met the edits`)
    })

    test('a stream that has begun goes on to its end when its val is edited', async () => {
      const codeOf = (version: number) => `export default (request: Request) => {
        if (new URL(request.url).pathname === "/quick") return new Response("v${version}")
        return new Response(new ReadableStream({
          async start(controller) {
            for (let i = 0; i < 10; i++) {
              controller.enqueue(new TextEncoder().encode("v${version} "))
              await new Promise((done) => setTimeout(done, 100))
            }
            controller.close()
          },
        }))
      }`
      await scene.save('flowing', codeOf(1))
      const stream = await scene.open('flowing')
      await scene.save('flowing', codeOf(2))
      assert.equal((await scene.call('flowing', '/quick')).text, 'v2')
      assert.equal((await readAnswer(stream)).text, 'v1 '.repeat(10))
    })

    test('what a run prints at its end is kept though its worker was waiting for that to end', async () => {
      const codeOf = (version: number) => `export default async (request: Request) => {
        if (new URL(request.url).pathname === "/quick") return new Response("v${version}")
        await new Promise((done) => setTimeout(done, 500))
        console.log("the last words")
        throw new RangeError("at the end")
      }`
      await scene.save('dying', codeOf(1))
      await scene.call('dying', '/quick')
      const slow = scene.call('dying')
      await scene.save('dying', codeOf(2))
      assert.equal((await scene.call('dying', '/quick')).text, 'v2')
      const { status, text } = await slow
      const { runId, error } = JSON.parse(text) as { runId: string; error: { name: string } }
      assert.equal(status, 500)
      assert.equal(error.name, 'RangeError')
      const run = await scene.findRun(runId)
      assert.deepEqual(
        run.logs.map(({ message }) => message),
        ['the last words'],
      )
    })

    test('a val that was deleted is not found, and one that comes back is', async () => {
      const code = 'export default () => new Response("here")'
      const val = await scene.save('fleeting', code)
      assert.equal((await scene.call('fleeting')).status, 200)
      await scene.alice.vals.delete(val.id)
      assert.equal((await scene.call('fleeting')).status, 404)
      await scene.save('fleeting', code)
      assert.equal((await scene.call('fleeting')).text, 'here')
    })

    test('a renamed val answers at its new address and no longer at its old one', async () => {
      const val = await scene.save('old_name', 'export default () => new Response("moved")')
      assert.equal((await scene.call('old_name')).text, 'moved')
      assert.equal((await scene.call('new_name')).status, 404)
      await scene.alice.vals.update(val.id, { name: 'new_name' })
      assert.equal((await scene.call('new_name')).text, 'moved')
      assert.equal((await scene.call('old_name')).status, 404)
    })
  })

  describe('addresses', { concurrency: false }, () => {
    test('an address takes the name in any case with hyphens, and the id in hexadecimal digits', async () => {
      const val = await scene.save('My_Great_Val', 'export default () => new Response("mine")')
      const id = val.id.replaceAll('-', '')
      for (const label of ['alice--my-great-val', 'ALICE--My-Great-VAL', id, id.toUpperCase()]) {
        assert.equal((await scene.callLabel(label)).text, 'mine', label)
      }
      for (const label of ['alice--my_great_val', 'alice-my-great-val', 'bob--my-great-val', val.id, 'www']) {
        assert.equal((await scene.callLabel(label)).status, 404, label)
      }
    })

    test('an unlisted val answers by its id only', async () => {
      const code = 'export default () => new Response("unlisted")'
      const val = await scene.save('secret_link', code, { privacy: 'unlisted' })
      assert.equal((await scene.call('secret_link')).status, 404)
      assert.equal((await scene.callLabel(val.id.replaceAll('-', ''))).text, 'unlisted')
    })

    test('a private val answers its owner only, and never sees the token', async () => {
      const code = `export default (request: Request) =>
        new Response(String(request.headers.get("authorization")) + JSON.stringify([...request.headers]))`
      const val = await scene.save('diary', code, { privacy: 'private' })
      const { alice, bob } = scene.world.tokens
      const as = async (authorization?: string) =>
        scene.call('diary', '/', { headers: authorization === undefined ? {} : { authorization } })
      const own = await as(`Bearer ${alice}`)
      assert.equal(own.status, 200)
      assert.ok(own.text.startsWith('null'))
      assert.ok(!own.text.includes(alice))
      const missing = await scene.call('there_is_none')
      for (const denied of [await as(), await as(`Bearer ${bob}`), await as('Bearer vly_nonsense')]) {
        assert.equal(denied.status, 404)
        assert.equal(denied.text, missing.text)
      }
      const byId = await scene.callLabel(val.id.replaceAll('-', ''))
      assert.equal(byId.text, missing.text)
    })

    test("a token of the val's own reaches it, and one of ours never does, whatever the privacy", async () => {
      const code = 'export default (request: Request) => new Response(request.headers.get("authorization"))'
      await scene.save('bearer', code)
      const as = async (authorization: string) =>
        (await scene.call('bearer', '/', { headers: { authorization } })).text
      assert.equal(await as('Bearer of-the-val'), 'Bearer of-the-val')
      assert.equal(await as(`Bearer ${scene.world.tokens.bob}`), '')
    })

    test('a val that becomes private closes at once', async () => {
      const val = await scene.save('closing', 'export default () => new Response("open")')
      assert.equal((await scene.call('closing')).text, 'open')
      await scene.alice.vals.update(val.id, { privacy: 'private' })
      assert.equal((await scene.call('closing')).status, 404)
    })

    test('a val of another type has no address', async () => {
      await scene.save('a_script', 'export default () => new Response("no")', { type: 'script' })
      assert.equal((await scene.call('a_script')).status, 404)
    })
  })

  describe('what a val may be', { concurrency: false }, () => {
    const forms: Record<string, { code: string; answer: string }> = {
      'a function': { code: 'export default function () { return new Response("ok") }', answer: 'ok' },
      'an async arrow': { code: 'export default async () => new Response("ok")', answer: 'ok' },
      'an object with fetch': {
        code: 'export default { word: "ok", fetch() { return new Response(this.word) } }',
        answer: 'ok',
      },
      'an instance of a class with fetch': {
        code: 'class App { #word = "ok"; fetch() { return new Response(this.#word) } }; export default new App()',
        answer: 'ok',
      },
      'a Hono app': {
        code: `import { Hono } from "npm:hono@4"
          const app = new Hono()
          app.get("/", (c) => c.text("ok"))
          export default app`,
        answer: 'ok',
      },
      JSX: {
        code: `/** @jsxImportSource npm:hono@4/jsx */
          const Page = ({ who }: { who: string }) => <p>Hello {who}</p>
          export default () => new Response(String(<Page who="you" />))`,
        answer: '<p>Hello you</p>',
      },
      'TypeScript with a cast in angle brackets': {
        code: 'const word = <string>("ok" as unknown); export default () => new Response(word)',
        answer: 'ok',
      },
      'TypeScript with an enum and a generic arrow': {
        code: `enum Word { Ok = "ok" }
          const same = <T,>(value: T): T => value
          export default (): Response => new Response(same(Word.Ok) satisfies string)`,
        answer: 'ok',
      },
      'one with a top-level await': {
        code: `const word = await Promise.resolve("ok")
          export default () => new Response(word)`,
        answer: 'ok',
      },
      'one that keeps state while it is warm': {
        code: 'let calls = 0; export default () => new Response(String(++calls > 0))',
        answer: 'true',
      },
      'one of the most characters': {
        code: padded('export default () => new Response("ok") //', 'x'),
        answer: 'ok',
      },
      'one of the most characters, each of several bytes': {
        code: padded('export default () => new Response("ok") //', '€'),
        answer: 'ok',
      },
    }
    for (const [what, { code, answer }] of Object.entries(forms)) {
      test(`${what} answers`, async () => {
        const name = what.replaceAll(/[^a-zA-Z]+/g, '_').slice(0, 48)
        await scene.save(name, code)
        const { status, text } = await scene.call(name)
        assert.deepEqual({ status, text }, { status: 200, text: answer })
      })
    }
  })

  describe('variables', { concurrency: false }, () => {
    const code = `export default () => Response.json({
      deno: Deno.env.get("WORD") ?? null,
      node: process.env.WORD ?? null,
      all: Object.keys(Deno.env.toObject()).sort(),
    })`
    const read = async (name: string) =>
      JSON.parse((await scene.call(name)).text) as { deno: string | null; node: string; all: string[] }

    test("a user's variables are seen by each of their vals, a val's own win, and a change is seen by the next run", async () => {
      const first = await scene.save('env_first', code)
      await scene.save('env_second', code)
      assert.equal((await read('env_first')).deno, null)
      await scene.alice.me.env.set('WORD', "the user's")
      assert.deepEqual(pick(await read('env_first')), ["the user's", "the user's"])
      await scene.alice.vals.env.set(first.id, 'WORD', "the val's")
      assert.deepEqual(pick(await read('env_first')), ["the val's", "the val's"])
      assert.deepEqual(pick(await read('env_second')), ["the user's", "the user's"])
      await scene.alice.vals.env.delete(first.id, 'WORD')
      assert.equal((await read('env_first')).deno, "the user's")
      await scene.alice.me.env.delete('WORD')
      assert.equal((await read('env_first')).deno, null)
    })

    test("another user's variables are never seen, nor are the runner's own", async () => {
      await scene.bob.me.env.set('BOBS_SECRET', 'hidden')
      await scene.save('env_foreign', code)
      const { all } = await read('env_foreign')
      assert.ok(!all.includes('BOBS_SECRET'))
      assert.deepEqual(
        all.filter((name) => /NATS|DATABASE|RUNNER|KEY|TOKEN|SECRET/.test(name)),
        [],
      )
    })

    const pick = ({ deno, node }: { deno: string | null; node: string }) => [deno, node]
  })

  describe('more than it can take', { concurrency: false }, () => {
    test('a hot val gets a second worker', async () => {
      await scene.save('hot', waiting(200))
      await scene.call('hot', '/now')
      await waitUntil('two workers answer', async () => {
        const answers = await Promise.all(Array.from({ length: 60 }, async () => scene.call('hot')))
        assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
        return new Set(answers.map(({ text }) => text)).size >= 2
      })
    })

    test('beyond what its workers and its queue take, requests are told to come back', async () => {
      await scene.save('crowded', waiting(4_000))
      await scene.call('crowded', '/now')
      const answers = await Promise.all(Array.from({ length: 750 }, async () => scene.call('crowded')))
      const turnedAway = answers.filter(({ status }) => status === 503)
      const served = answers.filter(({ status }) => status === 200)
      assert.equal(served.length + turnedAway.length, answers.length)
      assert.ok(turnedAway.length > 0, 'nobody was turned away')
      const reasons = Object.groupBy(
        turnedAway,
        ({ text }) => (JSON.parse(text) as { message: string }).message,
      )
      const tally = Object.entries(reasons).map(([message, all]) => `${all?.length} × ${message}`)
      // As many as may wait, at the least: a test beside this one may have changed the variables just now.
      assert.ok(served.length >= 200, `only ${served.length} were served: ${tally.join('; ')}`)
      for (const { headers, text } of turnedAway) {
        assert.equal(headers['retry-after'], '1')
        assert.equal((JSON.parse(text) as { code: string }).code, 'overloaded')
      }
      assert.equal((await scene.call('crowded', '/now')).status, 200)
    })
  })

  describe('that never comes to an end', { concurrency: true }, () => {
    test('a handler that never answers is answered for after thirty seconds, and its val goes on', async () => {
      await scene.save('forever', waiting(3_600_000))
      await scene.call('forever', '/now')
      const startedAt = performance.now()
      const { status, text } = await scene.call('forever')
      const seconds = (performance.now() - startedAt) / 1_000
      const { code, runId } = JSON.parse(text) as { code: string; runId: string }
      assert.deepEqual({ status, code }, { status: 504, code: 'val_timed_out' })
      assert.ok(seconds >= 29 && seconds < 33, `after ${seconds} s`)
      const run = await scene.findRun(runId)
      assert.equal(run.status, 'timed_out')
      assert.ok(run.timings.runMs >= 29_000)
      assert.equal((await scene.call('forever', '/now')).status, 200)
    })

    test('an import that never ends is answered for, with the reason', async () => {
      await scene.save(
        'stuck_import',
        'await new Promise(() => setInterval(() => {}, 1000)); export default 1',
      )
      const { status, text } = await scene.call('stuck_import')
      const { code, runId } = JSON.parse(text) as { code: string; runId: string }
      assert.equal(code, 'val_timed_out')
      assert.equal(status, 504)
      assert.match(text, /top-level await/)
      assert.equal((await scene.findRun(runId)).status, 'timed_out')
    })

    test('a top-level await for what can never come fails with the reason', async () => {
      await scene.save('dead_import', 'await new Promise(() => {}); export default () => new Response("no")')
      const { status, text } = await scene.call('dead_import')
      assert.ok(status === 500 || status === 504, text)
      assert.match(text, /await/)
    })
  })
})

describe('a runner with little memory and little patience', () => {
  const budgetMib = 256
  const vals = 8

  before(async () => {
    const runner = scene.world.runner
    assert.ok(runner)
    await runner.restart({
      MEMORY_BUDGET_MIB: String(budgetMib),
      WARM_IDLE_SECONDS: '5',
      IDLE_WORKERS: '1',
    })
  })

  test('more vals than fit take turns: each answers, and the memory stays within its budget', async () => {
    const names = Array.from({ length: vals }, (_, at) => `turn_${at}`)
    for (const name of names) await scene.save(name, `export default () => new Response("${name}")`)
    for (const name of [...names, ...names]) {
      assert.equal((await scene.call(name)).text, name)
      assert.ok((await scene.metric('valley_workers_memory_bytes')) <= budgetMib * 1024 * 1024)
    }
    assert.ok((await scene.metric('valley_worker_ends{cause="evicted"}')) > 0)
  })

  test('an owner whose streams take all of the memory gives way to another', async () => {
    const code = `export default () => new Response(new ReadableStream({
      start: (stream) => { setInterval(() => stream.enqueue(new Uint8Array(1)), 100) } }))`
    const leaving = new AbortController()
    let [streaming, ended] = [0, 0]
    const open = async (name: string) => {
      const { statusCode, body } = await scene.open(name, '/', { signal: leaving.signal })
      if (statusCode === 200) streaming += 1
      body.on('error', () => (ended += 1)).resume()
    }
    /** For longer than it takes until a new worker has been measured, and counts for no more than it has. */
    const isNextBooted = async () => {
      for (const untilMs = performance.now() + 2 * limits.measureIntervalMs; performance.now() < untilMs;) {
        if ((await scene.metric('valley_workers{state="idle"}')) > 0) return true
        await sleep(100)
      }
      return false
    }
    try {
      for (let at = 0; await isNextBooted(); at++) {
        assert.ok(at < 4 * vals, 'the memory never runs out')
        await scene.save(`stream_${at}`, code)
        await open(`stream_${at}`)
      }
      assert.ok(streaming > 1)
      const endedBefore = ended
      const answer = 'export default () => new Response("at last")'
      await scene.bob.vals.put({ name: 'waits', code: answer, type: 'http', privacy: 'public' })
      assert.equal((await scene.callLabel('bob--waits')).text, 'at last')
      assert.ok(ended > endedBefore, 'a stream had to end for it')
    } finally {
      leaving.abort()
    }
  })

  test('a val that nobody calls gives its worker back, and answers when it is called again', async () => {
    await scene.save('forgotten', 'export default () => new Response("here")')
    assert.equal((await scene.call('forgotten')).text, 'here')
    await waitUntil(
      'no worker is warm',
      async () => (await scene.metric('valley_workers{state="warm"}')) === 0,
    )
    assert.ok((await scene.metric('valley_worker_ends{cause="unused"}')) > 0)
    assert.equal((await scene.call('forgotten')).text, 'here')
  })

  test('nothing of a worker is left after its end', async () => {
    const isSettled = await untilSteady(async () => scene.metric('valley_workers{state="idle"}'))
    assert.equal(isSettled, 1)
    assert.equal(await scene.metric('valley_workers{state="gone"}'), 0)
  })
})

/** A val that takes its time, except at /now; its answer names the worker. */
function waiting(ms: number): string {
  return `const me = crypto.randomUUID()
    export default async (request: Request) => {
      if (new URL(request.url).pathname !== "/now") await new Promise((done) => setTimeout(done, ${ms}))
      return new Response(me)
    }`
}

function padded(code: string, filler: string): string {
  return code + filler.repeat(codeCharsMax - code.length)
}
