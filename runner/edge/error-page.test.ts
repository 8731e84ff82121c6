import assert from 'node:assert/strict'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { errorPage, type Trouble } from './error-page.ts'

const trouble: Trouble = {
  httpStatus: 500,
  code: 'val_threw',
  message: 'The val threw: Error: <b>"bold" & \'brave\'</b>',
  error: { name: 'Error', message: '<b>', stack: 'Error: <b>\n    at <script>alert(1)</script> (x.tsx:1:1)' },
  runId: '01a1dd3a-ced1-74f8-acd4-1ccd1945f0da',
}

test('a browser gets a page with the message, the stack and the run, all of it as text', () => {
  const { status, headers, body } = pageFor('text/html,application/xhtml+xml')
  assert.equal(status, 500)
  assert.equal(headers['content-type'], 'text/html; charset=utf-8')
  assert.match(body, /&lt;b&gt;&quot;bold&quot; &amp; &#39;brave&#39;&lt;\/b&gt;/)
  assert.match(body, /at &lt;script&gt;alert\(1\)&lt;\/script&gt; \(x\.tsx:1:1\)/)
  assert.doesNotMatch(body, /<b>|<script>/)
  assert.match(body, /run 01a1dd3a-ced1-74f8-acd4-1ccd1945f0da/)
})

test('anything else gets the same as JSON', () => {
  for (const accept of [undefined, '*/*', 'application/json']) {
    const { headers, body } = pageFor(accept)
    const { code, message, error, runId } = trouble
    assert.equal(headers['content-type'], 'application/json; charset=utf-8')
    assert.deepEqual(JSON.parse(body), { code, message, error, runId })
  }
})

test('it tells its length in bytes, its run, that it is not to be kept, and lets nothing be loaded', () => {
  const { headers, body } = pageFor('text/html', { ...trouble, message: 'größer' })
  assert.equal(headers['content-length'], String(Buffer.byteLength(body)))
  assert.equal(headers['valley-run'], trouble.runId)
  assert.equal(headers['cache-control'], 'no-store')
  assert.match(headers['content-security-policy'] ?? '', /^default-src 'none'/)
})

test('only who is turned away for now is told when to come back', () => {
  assert.equal(pageFor('*/*')['headers']['retry-after'], undefined)
  assert.equal(pageFor('*/*', { ...trouble, httpStatus: 503 }).headers['retry-after'], '1')
})

test('without an error or a run there is nothing said of them', () => {
  const bare = { httpStatus: 404, code: 'not_found', message: 'No val.' }
  assert.deepEqual(JSON.parse(pageFor('*/*', bare).body), { code: 'not_found', message: 'No val.' })
  assert.doesNotMatch(pageFor('text/html', bare).body, /<pre>|undefined|run /)
})

function pageFor(accept: string | undefined, what: Trouble = trouble) {
  const request = new IncomingMessage(new Socket())
  if (accept !== undefined) request.headers.accept = accept
  return errorPage(request, what)
}
