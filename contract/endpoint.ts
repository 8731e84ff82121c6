import { Id, Username, ValName } from './scalars.ts'
import type { Privacy } from './vals.ts'

/** A label of a host name has no more characters than this. */
const labelCharsMax = 63

interface LabelledVal {
  readonly id: string
  readonly username: string
  readonly name: string
  readonly privacy: Privacy
}

/**
 * The label under which a val is shown to answer: `alice--my-val`. Its id as hexadecimal digits always works, and
 * is shown where the name must not be guessed or would not make a good label: one that is too long, that ends in a
 * hyphen, or that browsers would take for encoded Unicode.
 */
export function endpointLabel({ id, username, name, privacy }: LabelledVal): string {
  const label = `${username}--${name.toLowerCase().replaceAll('_', '-')}`
  const isGood = label.length <= labelCharsMax && !label.endsWith('-') && !label.startsWith('xn--')
  return isGood && privacy !== 'unlisted' ? label : id.replaceAll('-', '')
}

/** What a label names: a val by its id, or by its owner and its name in lower case. */
export type LabelledBy =
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'name'; readonly username: string; readonly name: string }

/** No username has two hyphens in a row and no val's name has any, so a label can be read in one way only. */
export function parseLabelOrNull(label: string): LabelledBy | null {
  // Letters of other scripts become Latin ones in lower case, and an underscore would be a second spelling.
  if (label.length > labelCharsMax || !/^[a-zA-Z0-9-]+$/.test(label)) return null
  const lower = label.toLowerCase()
  if (/^[0-9a-f]{32}$/.test(lower)) return labelledById(lower)
  const split = lower.indexOf('--')
  if (split === -1) return null
  const username = Username.safeParse(lower.slice(0, split))
  const name = ValName.safeParse(lower.slice(split + 2).replaceAll('-', '_'))
  if (!username.success || !name.success) return null
  return { kind: 'name', username: username.data, name: name.data }
}

function labelledById(digits: string): LabelledBy | null {
  const parts = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/.exec(digits)?.slice(1) ?? []
  const id = Id.safeParse(parts.join('-'))
  return id.success ? { kind: 'id', id: id.data } : null
}
