import assert from 'node:assert/strict'
import { test } from 'node:test'
import { repositoryFolder } from '../repository.ts'
import { findUndecidedDependencies } from './dependency-decisions.ts'
import { findForbiddenText } from './forbidden-text.ts'
import { readRepository } from './read-repository.ts'
import { findShapeFaults } from './tree-shape.ts'

test('the host of a registry, a folder of one machine and work put off are found with their lines', () => {
  // In parts, because this file is checked, too.
  const lines = [['fine'], ['https://registry.', 'npmjs.org/x'], ['cd /wo', 'rk/main'], ['TO', 'DO']]
  const text = lines.map((parts) => parts.join('')).join('\n')
  const faults = findForbiddenText([{ path: 'a.md', text }])
  assert.deepEqual(
    faults.map((fault) => fault.split(' ')[0]),
    ['a.md:2', 'a.md:3', 'a.md:4'],
  )
})

test('a path that merely contains the word is not taken for a folder of one machine', () => {
  assert.deepEqual(findForbiddenText([{ path: 'a.md', text: 'tools/work/x ./root/y /working /rooted' }]), [])
})

test('a dependency needs a decision that names it in backticks', () => {
  const manifest = { path: 'server/package.json', text: '{"dependencies":{"pg":"8","@valley/bus":"*"}}' }
  assert.equal(findUndecidedDependencies([manifest]).length, 1)
  const decision = { path: 'docs/decisions/1.md', text: 'We use `pg` because …' }
  assert.deepEqual(findUndecidedDependencies([manifest, decision]), [])
})

test('a folder named after nothing and a file that is too long are found', () => {
  const long = 'x()\n'.repeat(251)
  const files = ['server/utils/a.ts', 'tools/services/a.ts', 'server/a.test.ts', 'server/b.ts']
  const faults = findShapeFaults(
    files.map((path) => ({ path, text: path.startsWith('server/') ? long : '' })),
  )
  assert.deepEqual(
    faults.map((fault) => fault.split(' ')[0]),
    ['server/utils/', 'server/utils/a.ts', 'server/b.ts'],
  )
})

test('the repository is read with its hidden files and without what git ignores', async () => {
  const paths = new Set((await readRepository(repositoryFolder)).map(({ path }) => path))
  assert.ok(paths.has('.gitignore'))
  assert.ok(paths.has('tools/repository.ts'))
  assert.ok(![...paths].some((path) => path.includes('node_modules/') || path.startsWith('.git/')))
})
