import fc from 'fast-check'
import { privacies } from '@valley/contract/vals.ts'
import type { Model } from './model.ts'
import * as reads from './reads.ts'
import type { Real, Run } from './real.ts'
import * as writes from './writes.ts'

export const userCount = 3

/** Few names in several spellings, and few codes, so that conflicts and repetitions are common. */
const name = fc.constantFrom('alpha', 'Alpha', 'beta')
const code = fc.constantFrom('export default 1', 'export default 2', '// π', ' ')
const privacy = fc.constantFrom(...privacies)
const user = fc.nat({ max: userCount - 1 })
const val = fc.nat({ max: 99 })
const back = fc.nat({ max: 3 })

const newVal = fc.record({ name, code, privacy })
const putVal = fc.record({ name, code, privacy }, { requiredKeys: ['name', 'code'] })
const newVersion = fc.record({ name, code, privacy }, { requiredKeys: ['code'] })
const change = fc.record({ name, privacy }, { requiredKeys: [] })

/** Given more often than the others, so that vals have versions to delete. */
const postVersion = command('postVersion', writes.postVersion, fc.record({ user, val, fields: newVersion }))

/** Sequences of requests by several users; each checks its answer against the model. */
export function commands() {
  return fc.commands(
    [
      command('create', writes.create, fc.record({ user, fields: newVal })),
      command('put', writes.put, fc.record({ user, fields: putVal })),
      command('putTwice', writes.putTwice, fc.record({ user, fields: putVal })),
      ...Array<typeof postVersion>(3).fill(postVersion),
      command('deleteVersion', writes.deleteVersion, fc.record({ user, val, back })),
      command('update', writes.update, fc.record({ user, val, fields: change })),
      command('deleteVal', writes.deleteVal, fc.record({ user, val })),
      command('like', writes.like, fc.record({ user, val, likes: fc.boolean() })),
      command('get', reads.get, fc.record({ user, val })),
      command('getByName', reads.getByName, fc.record({ user, owner: user, name })),
      command('getVersion', reads.getVersion, fc.record({ user, val, back })),
      command('listVersions', reads.listVersions, fc.record({ user, val })),
      command('listVals', reads.listVals, fc.record({ user, owner: user })),
    ],
    { maxCommands: 60, size: 'max' },
  )
}

function command<Input extends object>(label: string, run: Run<Input>, inputs: fc.Arbitrary<Input>) {
  return inputs.map((input): fc.AsyncCommand<Model, Real> => ({
    check: ({ vals }) => !('val' in input) || vals.length > 0,
    run: (model, real) => run(model, real, input),
    toString: () => `${label}(${fc.stringify(input)})`,
  }))
}
