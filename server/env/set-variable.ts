import { findNameProblem } from '@valley/contract/env.ts'
import { limits } from '@valley/contract/limits.ts'
import type { Context } from '../context.ts'
import { newId } from '../database/ids.ts'
import type { Db } from '../database/statement.ts'
import { Fault } from '../fault.ts'
import { inTransaction } from '../in-transaction.ts'
import { selectTotalsOfOthers, upsertVariable } from './queries.ts'
import { requireKey } from './require-key.ts'
import { sealValue, type VariablePlace } from './seal-value.ts'

interface NewVariable {
  readonly place: VariablePlace
  readonly value: string
  /** Holds whoever has the variable still, so that parallel writes are counted one after the other. */
  readonly lockHolder: (db: Db) => Promise<unknown>
}

export async function setVariable(context: Context, { place, value, lockHolder }: NewVariable) {
  requireGoodName(place.name)
  const sealed = sealValue(requireKey(context.environmentKeys, 'variables'), place, value)
  await inTransaction(context, async ({ db }) => {
    await lockHolder(db)
    await requireRoom(db, place, value)
    await upsertVariable(db, { ...sealed, id: newId() })
  })
}

function requireGoodName(name: string) {
  const problem = findNameProblem(name)
  if (problem === null) return
  throw new Fault('invalid_request', `The name of the variable ${problem}.`, {
    issues: [{ path: 'params.name', message: problem }],
  })
}

async function requireRoom(db: Db, place: VariablePlace, value: string) {
  const [others = { variables: 0, bytes: 0 }] = (await selectTotalsOfOthers(db, place)).rows
  if (others.variables >= limits.variablesMax) {
    throw full('params.name', `There are ${limits.variablesMax} variables already. Delete one first.`)
  }
  if (others.bytes + Buffer.byteLength(value) > limits.variablesBytesMax) {
    const max = `${limits.variablesBytesMax} bytes at most`
    throw full('body.value', `All values together may have ${max}. Shorten or delete one first.`)
  }
}

function full(path: string, message: string) {
  return new Fault('invalid_request', message, { issues: [{ path, message }] })
}
