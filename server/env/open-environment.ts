import { hash } from 'node:crypto'
import type { EnvironmentKeys } from './keys.ts'
import { openValueOrNull, type SealedVariable } from './seal-value.ts'

/** A variable as the database hands out all of a val's in one value. */
export interface SeenVariable {
  readonly id: string
  readonly holder_id: string
  readonly name: string
  readonly key_id: string
  readonly sealed_base64: string
}

export interface Environment {
  readonly values: Readonly<Record<string, string>>
  /** Names this set of writes: another one after any change, the same one after a change of keys. */
  readonly revision: string
  /** Names whose value cannot be opened. A val must not run without them: it might then let everyone in. */
  readonly unreadable: readonly string[]
}

/** What a val sees: its owner's variables, and over them its own. */
export function openEnvironment(
  keys: EnvironmentKeys,
  ownerId: string,
  variables: readonly SeenVariable[],
): Environment {
  const isOwners = ({ holder_id }: SeenVariable) => holder_id === ownerId
  const inOrder = [...variables.filter(isOwners), ...variables.filter((each) => !isOwners(each))]
  const winning = new Map(inOrder.map((variable) => [variable.name, variable]))
  const opened = [...winning.values()].map((variable) => ({
    name: variable.name,
    value: openValueOrNull(keys, toSealed(ownerId, variable)),
  }))
  const readable = opened.flatMap(({ name, value }) => (value === null ? [] : [[name, value] as const]))
  return {
    values: Object.fromEntries(readable),
    revision: revisionOf([...winning.values()]),
    unreadable: opened.filter(({ value }) => value === null).map(({ name }) => name),
  }
}

function toSealed(ownerId: string, { sealed_base64, ...variable }: SeenVariable): SealedVariable {
  return { ...variable, owner_id: ownerId, sealed_value: Buffer.from(sealed_base64, 'base64') }
}

/** Every write has an id of its own, so that the ids of the last ones tell all that the values could. */
function revisionOf(variables: readonly SeenVariable[]): string {
  const ids = variables.map(({ id }) => id).toSorted()
  return hash('sha256', ids.join('\n')).slice(0, 32)
}
