import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerHeaders } from './answer-headers.ts'

test("a val's headers pass, repeated ones and those of its connection apart", () => {
  const seen = answerHeaders({
    'content-type': 'text/plain',
    'x-many': ['1', '2'],
    connection: 'close',
    'keep-alive': 'timeout=5',
    'transfer-encoding': 'chunked',
    upgrade: 'h2c',
    'valley-outcome': 'forged',
  })
  assert.deepEqual({ ...seen }, { 'content-type': 'text/plain', 'x-many': ['1', '2'] })
})

const cookies: Record<string, string> = {
  'a=1': 'a=1',
  'a=1; Domain=example.com': 'a=1',
  'a=1;domain=.example.com;Path=/': 'a=1;Path=/',
  'a=1; DOMAIN = example.com; Secure': 'a=1; Secure',
  'a=1; Path=/; domain=x; Domain=y': 'a=1; Path=/',
  'domain=mine; Path=/': 'domain=mine; Path=/',
  'a=1; xdomain=1': 'a=1; xdomain=1',
  'a=1; Domain': 'a=1; Domain',
}

for (const [set, kept] of Object.entries(cookies)) {
  test(`the cookie '${set}' stays with its val`, () => {
    assert.deepEqual(answerHeaders({ 'set-cookie': set })['set-cookie'], [kept])
    assert.deepEqual(answerHeaders({ 'set-cookie': ['b=2', set] })['set-cookie'], ['b=2', kept])
  })
}
