import assert from 'node:assert/strict'
import { test } from 'node:test'
import { urlOf } from './url.ts'

const baseUrl = new URL('https://valley.example')

test('query values are written as the API reads them', () => {
  const query = {
    since: new Date('2026-01-02T03:04:05.006Z'),
    error: false,
    source: ['http', 'api'],
    limit: 5,
    cursor: undefined,
    query: 'a b&c=d+e',
  }
  const { searchParams } = urlOf(baseUrl, { path: '/v1/me/runs', query })
  assert.deepEqual(Object.fromEntries(searchParams), {
    since: '2026-01-02T03:04:05.006Z',
    error: 'false',
    source: 'http,api',
    limit: '5',
    query: 'a b&c=d+e',
  })
})

test('what is put into a path stays in its segment', () => {
  const { href } = urlOf(baseUrl, {
    path: '/v1/alias/{username}/{val_name}',
    params: { username: 'a/b?c', val_name: '%2e%2e' },
  })
  assert.equal(href, 'https://valley.example/v1/alias/a%2Fb%3Fc/%252e%252e')
})

test('an empty, missing or dotted id is refused: it would name another operation', () => {
  for (const val_id of ['', '.', '..']) {
    assert.throws(() => urlOf(baseUrl, { path: '/v1/vals/{val_id}', params: { val_id } }), TypeError)
  }
  assert.throws(() => urlOf(baseUrl, { path: '/v1/vals/{val_id}', params: {} }), /val_id/)
})

test('a base URL keeps its path, with or without a slash at the end', () => {
  for (const base of ['https://example.com/valley', 'https://example.com/valley/?x#y']) {
    assert.equal(urlOf(new URL(base), { path: '/v1/me' }).href, 'https://example.com/valley/v1/me')
  }
})
