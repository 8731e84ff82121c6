import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { operations, type OperationName } from '@valley/contract/operations.ts'
import { type Cell, cellsOf, type Privacy } from './testing/authorization-matrix.ts'
import { type Actors, openActors, type Scene, setScene, tryCell } from './testing/authorization-scene.ts'
import { openTestServer } from './testing/open-test-server.ts'

const server = await openTestServer()
after(() => server[Symbol.asyncDispose]())

const names = Object.keys(operations) as OperationName[]

for (const name of names) {
  test(`${name} answers everyone as the matrix says`, async () => {
    const actors = await openActors(server, name)
    const sceneOf = scenesFor(name, actors)
    const surprises = await Promise.all(
      cellsOf(name).map((cell) => surpriseOf(name, actors, { cell, sceneOf })),
    )
    assert.deepEqual(
      surprises.filter((surprise) => surprise !== null),
      [],
    )
  })
}

test('the matrix has at least 400 cells', (t) => {
  const count = names.flatMap(cellsOf).length
  t.diagnostic(`${count} cells of ${names.length} operations`)
  assert.ok(count >= 400)
})

interface Staged {
  readonly cell: Cell
  readonly sceneOf: (privacy: Privacy) => Promise<Scene>
}

async function surpriseOf(name: OperationName, actors: Actors, { cell, sceneOf }: Staged) {
  const outcome = await tryCell(server, name, { cell, actors, scene: await sceneOf(cell.privacy) })
  if (outcome === cell.expected) return null
  return `${name}, ${cell.credential}, ${cell.privacy} val: ${outcome} instead of ${cell.expected}`
}

/** Reads share a scene for each privacy; whatever may change something gets one of its own. */
function scenesFor(name: OperationName, actors: Actors): Staged['sceneOf'] {
  if (operations[name].method !== 'GET') return (privacy) => setScene(server, actors, privacy)
  const scenes = new Map<Privacy, Promise<Scene>>()
  return (privacy) => {
    const scene = scenes.get(privacy) ?? setScene(server, actors, privacy)
    scenes.set(privacy, scene)
    return scene
  }
}
