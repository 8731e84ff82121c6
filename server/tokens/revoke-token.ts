import { isId } from '../database/ids.ts'
import type { Db } from '../database/statement.ts'
import { Fault } from '../fault.ts'
import { deleteTokenById } from './queries.ts'

/** Ends a token whoever's it is. Servers that remember it refuse it within callerAgeMaxMs. */
export async function revokeToken(db: Db, id: string): Promise<void> {
  const { rows } = isId(id) ? await deleteTokenById(db, { id }) : { rows: [] }
  if (rows.length === 0) throw new Fault('not_found', `There is no token with the id ${id}.`)
}
