import type { Context } from './context.ts'

/** Does the work in one transaction; what it wanted done afterwards is done once that is committed. */
export async function inTransaction<Result>(
  context: Context,
  work: (context: Context) => Promise<Result>,
): Promise<Result> {
  const effects: (() => void)[] = []
  const result = await context.db
    .transaction()
    .execute((db) => work({ ...context, db, afterCommit: (effect) => effects.push(effect) }))
  for (const effect of effects) effect()
  return result
}
