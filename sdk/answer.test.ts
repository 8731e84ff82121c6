import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerFrom } from './answer.ts'
import { ValleyError } from './valley-error.ts'

const html = '<html><head><title>502 Bad Gateway</title></head>\n<body><hr>nginx/1.2</body></html>'

test("a proxy's error page becomes an error with its status, its words and its request id", () => {
  const headers = new Headers({ 'content-type': 'text/html', 'x-request-id': 'p1', 'retry-after': '3' })
  const error = answerFrom({ status: 502, headers, text: html }, 'json')
  assert.ok(error instanceof ValleyError)
  assert.deepEqual([error.code, error.status, error.requestId], ['unexpected_answer', 502, 'p1'])
  assert.match(error.message, /status 502.*502 Bad Gateway nginx\/1\.2/)
  assert.equal(error.retryAfterMs, 3000)
})

test('a page where JSON was promised is an error, not a val', () => {
  const error = answerFrom({ status: 200, headers: new Headers(), text: html }, 'json')
  assert.ok(error instanceof ValleyError)
  assert.equal(error.code, 'unexpected_answer')
})

test("JSON that is not Valley's error, and an empty body, are told as well", () => {
  for (const text of ['{"error":"nope"}', '{"code":7,"message":"x"}', 'null', '']) {
    const error = answerFrom({ status: 500, headers: new Headers(), text }, 'json')
    assert.ok(error instanceof ValleyError)
    assert.equal(error.code, 'unexpected_answer')
    assert.equal(error.status, 500)
  }
})

test('a huge error page is quoted in part', () => {
  const error = answerFrom({ status: 500, headers: new Headers(), text: 'x'.repeat(5_000_000) }, 'json')
  assert.ok(error instanceof ValleyError)
  assert.ok(error.message.length < 1_000)
})

test('a Retry-After that cannot be read counts as none, and a past one as now', () => {
  const waits = ['soon', 'Wed, 21 Oct 2015 07:28:00 GMT'].map((value) => {
    const answer = answerFrom(
      { status: 503, headers: new Headers({ 'retry-after': value }), text: '' },
      'json',
    )
    return answer instanceof ValleyError ? answer.retryAfterMs : 'no error'
  })
  assert.deepEqual(waits, [undefined, 0])
})
