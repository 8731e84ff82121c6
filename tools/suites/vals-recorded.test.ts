import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { waitFor, waitUntil } from '@valley/server/testing/wait-until.ts'
import { openScene, type Answer, type Scene } from './vals/scene.ts'

const logLinesMax = 1_000
const logLineCharsMax = 16_384

let scene: Scene

before(async () => {
  scene = await openScene()
})
after(async () => {
  await scene[Symbol.asyncDispose]()
})

/** Saves, calls once, and reads what was recorded of it. */
async function record(name: string, code: string) {
  await scene.save(name, code)
  const answer = await scene.call(name)
  return { answer, run: await scene.findRun(runIdOf(answer)) }
}

const runIdOf = ({ headers }: Pick<Answer, 'headers'>) => String(headers['valley-run'])
const handler = (body: string) => `export default async (request: Request) => {\n${body}\n}`
const messagesOf = ({ logs }: { logs: { message: string }[] }) => logs.map(({ message }) => message)

describe('what a val prints', () => {
  test('is kept with its level, in its order, with its time', async () => {
    const { run } = await record(
      'printing',
      handler(`console.debug("d"); console.log("l"); console.info("i"); console.warn("w"); console.error("e")
        console.log("%s is %d of %o", "one", 1, { a: [2] }, "and more")
        console.log({ deep: { er: [1, "two", null] } }, new Map([["k", 1]]), 7n, undefined)
        console.assert(true, "never"); console.assert(false, "asserted")
        console.count(); console.count(); console.count("x"); console.countReset(); console.count()
        console.group("outer"); console.log("inner"); console.groupEnd(); console.log("after")
        console.dir({ dir: 1 }); console.table([{ a: 1, b: 2 }]); console.trace("traced")
        console.time("t"); console.timeLog("t"); console.timeEnd("t")
        return new Response("ok")`),
    )
    const lines = run.logs.map(({ level, message }) => `${level} ${message}`)
    assert.deepEqual(lines.slice(0, 7), [
      'debug d',
      'info l',
      'info i',
      'warn w',
      'error e',
      'info one is 1 of { a: [ 2 ] } and more',
      'info { deep: { er: [ 1, "two", null ] } } Map(1) { "k" => 1 } 7n undefined',
    ])
    assert.deepEqual(lines.slice(7, 15), [
      'error Assertion failed asserted',
      'info default: 1',
      'info default: 2',
      'info x: 1',
      'info default: 1',
      'info outer',
      'info   inner',
      'info after',
    ])
    assert.match(lines[15] ?? '', /dir: 1/)
    assert.match(lines[16] ?? '', /a: 1, b: 2/)
    assert.match(lines[17] ?? '', /Trace.*traced.*printing\.tsx:\d+:\d+/s)
    assert.match(lines[18] ?? '', /^info t: \d+(\.\d+)? ms$/)
    assert.match(lines[19] ?? '', /^info t: \d+(\.\d+)? ms$/)
    assert.equal(lines.length, 20)
    const times = run.logs.map(({ at }) => Date.parse(at))
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    )
    assert.ok(times.every((at) => Math.abs(at - Date.parse(run.createdAt)) < 10_000))
  })

  test('while it is loaded belongs to the first run', async () => {
    const { run } = await record(
      'loading',
      `console.log("at import"); ${handler('console.log("at call"); return new Response("ok")')}`,
    )
    assert.deepEqual(messagesOf(run), ['at import', 'at call'])
    const second = await scene.findRun(runIdOf(await scene.call('loading')))
    assert.deepEqual(messagesOf(second), ['at call'])
  })

  test('right after its answer is kept as well', async () => {
    const { run } = await record(
      'afterwards',
      handler(`queueMicrotask(() => console.log("a microtask later"))
        setTimeout(() => console.log("a moment later"), 1)
        return new Response("ok")`),
    )
    assert.deepEqual(messagesOf(run), ['a microtask later', 'a moment later'])
  })

  test('long after its answer never gets into the record of another run', async () => {
    const code = handler(`const { pathname } = new URL(request.url)
      setTimeout(() => console.log("late of " + pathname), 300)
      await new Promise((done) => setTimeout(done, pathname === "/slow" ? 800 : 0))
      return new Response("ok")`)
    await scene.save('belated', code)
    await scene.call('belated', '/first')
    const slow = await scene.findRun(runIdOf(await scene.call('belated', '/slow')))
    assert.deepEqual(messagesOf(slow), ['late of /slow'])
    const next = await scene.findRun(runIdOf(await scene.call('belated', '/next')))
    assert.deepEqual(messagesOf(next), [])
  })

  test('is never mixed up between requests that run at once', async () => {
    const code = handler(`const marker = new URL(request.url).searchParams.get("marker")
      for (let i = 0; i < 5; i++) {
        console.log(marker, i)
        await new Promise((done) => setTimeout(done, Math.random() * 20))
        await fetch("data:text/plain,x").then((r) => r.text())
      }
      return new Response(marker)`)
    await scene.save('markers', code)
    await scene.call('markers', '/?marker=first')
    const answers = await Promise.all(
      Array.from({ length: 50 }, async (_, at) => scene.call('markers', `/?marker=m${at}`)),
    )
    for (const answer of answers) {
      const run = await scene.findRun(runIdOf(answer))
      const expected = [0, 1, 2, 3, 4].map((i) => `${answer.text} ${i}`)
      assert.deepEqual(messagesOf(run), expected)
    }
  })

  test('is cut after a thousand lines, which its last line says', async () => {
    const { run } = await record(
      'flooding',
      handler('for (let i = 0; i < 5000; i++) console.log("line " + i); return new Response("ok")'),
    )
    assert.equal(run.logs.length, logLinesMax + 1)
    assert.equal(run.logs[logLinesMax - 1]?.message, `line ${logLinesMax - 1}`)
    assert.match(run.logs.at(-1)?.message ?? '', /^Cut here/)
    assert.equal(run.logs.at(-1)?.level, 'warn')
  })

  test('is cut after 256 KiB, and a line after its most characters', async () => {
    const { run } = await record(
      'gushing',
      handler('for (let i = 0; i < 40; i++) console.log("x".repeat(20000)); return new Response("ok")'),
    )
    assert.equal(run.logs[0]?.message, `${'x'.repeat(logLineCharsMax)}…`)
    assert.match(run.logs.at(-1)?.message ?? '', /^Cut here/)
    const bytes = run.logs.reduce((sum, { message }) => sum + Buffer.byteLength(message), 0)
    assert.ok(bytes < 260 * 1024 && run.logs.length > 10, `${bytes} bytes`)
  })

  test('is kept whatever characters are in it', async () => {
    const { run } = await record(
      'exotic',
      handler(String.raw`console.log("nul \0 half \ud83d whole \u{1f600} line\nbreak \x1b[31mred ünï €")
        return new Response("ok")`),
    )
    assert.deepEqual(messagesOf(run), ['nul \ufffd half \ufffd whole 😀 line\nbreak \x1b[31mred ünï €'])
  })

  test('of errors and rejections that nobody caught, belongs to the run that caused them', async () => {
    const code = handler(`const marker = new URL(request.url).searchParams.get("marker")
      queueMicrotask(() => { throw new RangeError("thrown by " + marker) })
      void Promise.reject(new TypeError("rejected by " + marker))
      await new Promise((done) => setTimeout(done, 50))
      return new Response("still here")`)
    await scene.save('uncaught', code)
    await scene.call('uncaught', '/?marker=first')
    const answers = await Promise.all(
      Array.from({ length: 5 }, async (_, at) => ({
        at,
        answer: await scene.call('uncaught', `/?marker=m${at}`),
      })),
    )
    for (const { at, answer } of answers) {
      assert.equal(answer.text, 'still here')
      const run = await scene.findRun(runIdOf(answer))
      assert.equal(run.status, 'succeeded')
      const [thrown = '', rejected = ''] = messagesOf(run).toSorted().toReversed()
      assert.match(
        rejected,
        new RegExp(`^Uncaught \\(in promise\\) TypeError: rejected by m${at}\\n.*uncaught\\.tsx:4`, 's'),
      )
      assert.match(thrown, new RegExp(`^Uncaught RangeError: thrown by m${at}\\n.*uncaught\\.tsx:3`, 's'))
    }
  })

  test('of an error that nobody caught in a timer belongs to the run, if there is only one', async () => {
    const { run } = await record(
      'timer_throws',
      handler(`setTimeout(() => { throw new RangeError("in a timer") }, 5)
        await new Promise((done) => setTimeout(done, 50))
        return new Response("still here")`),
    )
    assert.match(messagesOf(run).join(), /^Uncaught RangeError: in a timer\n.*timer_throws\.tsx:2/s)
  })
})

describe('the record of a run', () => {
  test('says what was asked, answered and how long it took', async () => {
    await scene.save(
      'timed',
      handler('await new Promise((done) => setTimeout(done, 120)); return new Response("", { status: 201 })'),
    )
    const asked = Date.now()
    const cold = await scene.call('timed', '/path?query=1', { method: 'POST', body: 'x' })
    const answered = Date.now()
    const run = await scene.findRun(runIdOf(cold))
    assert.deepEqual(
      [run.status, run.source, run.error, run.request, run.response, run.val.name, run.val.version],
      ['succeeded', 'http', null, { method: 'POST', path: '/path?query=1' }, { status: 201 }, 'timed', 1],
    )
    const { queuedMs, bootMs, runMs } = run.timings
    assert.ok(runMs >= 118 && runMs <= answered - asked, `ran for ${runMs} ms`)
    assert.ok(bootMs > 0 && bootMs + runMs + queuedMs <= answered - asked + 5, JSON.stringify(run.timings))
    assert.ok(Date.parse(run.createdAt) >= asked - 2 && Date.parse(run.runEndAt ?? '') <= answered + 2)
    assert.ok(Date.parse(run.runStartAt ?? '') <= Date.parse(run.runEndAt ?? '') - 118)
    const warm = await scene.findRun(runIdOf(await scene.call('timed')))
    assert.equal(warm.timings.bootMs, 0)
  })

  test('is one for each request, and its owner alone may read it', async () => {
    const val = await scene.save('each', handler('return new Response("ok")'))
    const answers = await Promise.all(Array.from({ length: 30 }, async () => scene.call('each')))
    const ids = answers.map(runIdOf)
    assert.equal(new Set(ids).size, 30)
    await Promise.all(ids.map(async (id) => scene.findRun(id)))
    const { data } = await scene.alice.vals.runs.list(val.id, { limit: 100 })
    assert.deepEqual(data.map(({ id }) => id).toSorted(), ids.toSorted())
    await assert.rejects(scene.bob.runs.get(ids[0] ?? ''), { code: 'not_found' })
  })
})

describe('a val that fails says what to mend', () => {
  interface Failure {
    code: string
    message: string
    runId: string
    error: { name: string; message: string; stack?: string }
  }
  const fail = async (name: string, code: string) => {
    const val = await scene.save(name, code)
    const { status, text } = await scene.call(name)
    const failure = JSON.parse(text) as Failure
    const run = await scene.findRun(failure.runId)
    assert.equal(run.status, 'failed')
    assert.deepEqual(run.error, failure.error)
    assert.equal(run.response?.status, status)
    return { val, status, run, ...failure }
  }

  test('throwing: with the stack in its own lines, through async functions and causes', async () => {
    const { status, code, error } = await fail(
      'throwing',
      `interface Options { readonly deep: boolean }

      async function inner(options: Options): Promise<never> {
        await Promise.resolve()
        throw new RangeError("too deep: " + options.deep)
      }

      export default async () => {
        try { await inner({ deep: true }) }
        catch (cause) { throw new Error("outer", { cause }) }
      }`,
    )
    assert.deepEqual([status, code, error.name, error.message], [500, 'val_threw', 'Error', 'outer'])
    assert.match(error.stack ?? '', /^Error: outer\n\s+at .*throwing\.tsx:10:\d+/)
    assert.match(
      error.stack ?? '',
      /Caused by: RangeError: too deep: true\n\s+at inner \(throwing\.tsx:5:\d+\)/,
    )
    assert.doesNotMatch(error.stack ?? '', /file:|handler\.js|main\.js|ext:/)
  })

  test('throwing what is no error', async () => {
    const { error } = await fail('throws_text', 'export default () => { throw "just text" }')
    assert.deepEqual(error, { name: 'Thrown', message: 'just text' })
    const odd = await fail('throws_null', 'export default async () => { throw null }')
    assert.equal(odd.error.message, 'null')
  })

  test('at import: with the line', async () => {
    const { status, code, error } = await fail(
      'import_throws',
      'const a = 1\n\nthrow new TypeError("not today")\nexport default () => new Response("no")',
    )
    assert.deepEqual(
      [status, code, error.name, error.message],
      [500, 'val_did_not_load', 'TypeError', 'not today'],
    )
    assert.match(error.stack ?? '', /import_throws\.tsx:3:7/)
  })

  test('with a syntax error: with its line', async () => {
    const { status, code, error } = await fail('syntax', 'const a = 1\nconst b = = 2\nexport default () => a')
    assert.deepEqual([status, code, error.name], [500, 'val_did_not_load', 'SyntaxError'])
    assert.match(`${error.message} ${error.stack}`, /syntax\.tsx?:2:11/)
    assert.doesNotMatch(`${error.message} ${error.stack}`, /file:/)
  })

  test('with an import that is not there: with its name', async () => {
    const { code, message } = await fail(
      'no_module',
      'import x from "npm:this-is-not-there-9f3a"\nexport default x',
    )
    assert.equal(code, 'val_did_not_load')
    assert.match(message, /this-is-not-there-9f3a/)
  })

  for (const [what, code] of Object.entries({
    'without a default export': 'export const handler = () => new Response("no")',
    'with a default export that answers nothing': 'export default 42',
    'with an empty file': '// nothing',
  })) {
    test(`${what}: with what to add`, async () => {
      const failed = await fail(what.replaceAll(/[^a-z]+/g, '_'), code)
      assert.deepEqual([failed.status, failed.code], [500, 'val_handles_nothing'])
      assert.match(failed.message, /export default \(\) => new Response/)
    })
  }

  for (const [what, value] of Object.entries({
    text: '"text"',
    nothing: 'undefined',
    null: 'null',
    'an object': '{ status: 200, headers: [] }',
    'a promise of nothing': 'Promise.resolve()',
  })) {
    test(`answering with ${what}: with what to return`, async () => {
      const failed = await fail(`gives_${what.replaceAll(' ', '_')}`, `export default () => (${value})`)
      assert.deepEqual([failed.status, failed.code, failed.error.name], [500, 'val_threw', 'TypeError'])
      assert.match(failed.message, /must return a Response/)
    })
  }

  test('mended, it answers at once, however often it failed before', async () => {
    await scene.save('mended', 'throw new Error("not yet")')
    for (let i = 0; i < 6; i++) assert.equal((await scene.call('mended')).status, 500)
    await scene.save('mended', 'export default () => new Response("now")')
    assert.equal((await scene.call('mended')).text, 'now')
  })

  test('ending its own process: it says so, and the next request is answered', async () => {
    const val = await scene.save(
      'exiting',
      handler('if (request.url.endsWith("/exit")) Deno.exit(3); return new Response("ok")'),
    )
    assert.equal((await scene.call('exiting')).text, 'ok')
    const { status, text } = await scene.call('exiting', '/exit')
    const { error, runId } = JSON.parse(text) as Failure
    assert.deepEqual([status, error.name], [502, 'WorkerExited'])
    assert.equal((await scene.findRun(runId)).val.id, val.id)
    await waitFor('it answers again', async () => (await scene.call('exiting')).text === 'ok' || null)
  })

  test('in a browser: as a page, in which a hostile message is only text', async () => {
    const hostile = `</pre><script>alert('"&')</script><img src=x onerror=alert(1)>`
    await scene.save('hostile', `export default () => { throw new Error(${JSON.stringify(hostile)}) }`)
    const answer = await scene.call('hostile', '/', { headers: { accept: 'text/html,*/*' } })
    assert.equal(answer.status, 500)
    assert.equal(answer.headers['content-type'], 'text/html; charset=utf-8')
    assert.equal(answer.headers['cache-control'], 'no-store')
    assert.match(String(answer.headers['content-security-policy']), /default-src 'none'/)
    assert.ok(!answer.text.includes('<script>') && !answer.text.includes('<img'), answer.text)
    assert.ok(answer.text.includes('&lt;script&gt;alert(&#39;&quot;&amp;&#39;)'))
    assert.ok(answer.text.includes(runIdOf(answer)))
    const json = await scene.call('hostile', '/', { headers: { accept: 'application/json' } })
    assert.equal(json.headers['content-type'], 'application/json; charset=utf-8')
    assert.equal((JSON.parse(json.text) as Failure).runId, runIdOf(json))
    const head = await scene.call('hostile', '/', { method: 'HEAD' })
    assert.deepEqual([head.status, head.text], [500, ''])
  })
})

describe('who watches a val', () => {
  const code = `let go: () => void = () => {}
  export default async (request: Request) => {
    const { pathname } = new URL(request.url)
    if (pathname === "/go") { go(); return new Response("gone") }
    console.log("begun", pathname)
    if (pathname === "/held") await new Promise<void>((done) => { go = done })
    console.warn("ended", pathname)
    return new Response("ok")
  }`

  test('sees each line while the request still runs, and then how the run ended', async () => {
    const val = await scene.save('watched', code)
    await using tail = watch(val.id)
    await tail.until('it is watching', async () => {
      await scene.call('watched', '/knock')
      return tail.lines.some((line) => line.endsWith('begun /knock'))
    })
    const held = scene.call('watched', '/held')
    await tail.until('the line came before the answer', async () => tail.lines.includes('info begun /held'))
    assert.ok(!tail.lines.includes('warn ended /held'))
    await scene.call('watched', '/go')
    const runId = runIdOf(await held)
    await tail.until('the run ended', async () => tail.ended.includes(`${runId} succeeded`))
    assert.ok(tail.lines.indexOf('warn ended /held') > tail.lines.indexOf('info begun /held'))
  })

  test('goes on where it was by the id of the last event', async () => {
    const val = await scene.save('resumed', code)
    await using first = watch(val.id)
    await first.until('it is watching', async () => {
      await scene.call('resumed', '/one')
      return first.ids.length > 0 && first.lines.includes('warn ended /one')
    })
    const lastEventId = first.ids.at(-1) ?? ''
    await first[Symbol.asyncDispose]()
    await scene.call('resumed', '/two')
    await using second = watch(val.id, lastEventId)
    await second.until('what was missed came', async () => second.lines.includes('warn ended /two'))
    assert.equal(second.lines.filter((line) => line === 'info begun /two').length, 1)
    const again = second.ids.filter((id) => first.ids.includes(id))
    assert.deepEqual(again, [])
  })

  test('is its owner', async () => {
    const val = await scene.save('unwatched', code)
    await assert.rejects(scene.bob.vals.tail(val.id)[Symbol.asyncIterator]().next(), { code: 'not_found' })
  })

  function watch(valId: string, lastEventId?: string) {
    const ending = new AbortController()
    const seen = { ids: [] as string[], lines: [] as string[], ended: [] as string[] }
    const start = lastEventId === undefined ? {} : { lastEventId }
    const reading = read().catch((error: unknown) => {
      if (!ending.signal.aborted) throw error
    })
    async function read() {
      for await (const { event, id, data } of scene.alice.vals.tail(valId, start, {
        signal: ending.signal,
      })) {
        seen.ids.push(id)
        if (event === 'log') seen.lines.push(`${data.level} ${data.message}`)
        if (event === 'run') seen.ended.push(`${data.runId} ${data.status}`)
      }
    }
    return Object.assign(seen, {
      until: async (what: string, isTrue: () => Promise<boolean>) => waitUntil(what, isTrue),
      async [Symbol.asyncDispose]() {
        ending.abort()
        await reading
      },
    })
  }
})
