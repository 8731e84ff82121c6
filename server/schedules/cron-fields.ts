/** What a field of a cron expression may say, to tell the author which of them is wrong and what fits. */
interface FieldRule {
  readonly name: string
  readonly min: number
  readonly max: number
  readonly names?: readonly string[]
  /** What it may say besides numbers, ranges and steps. */
  readonly special?: { readonly pattern: RegExp; readonly says: string }
}

const monthNames = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')
const weekdayNames = 'sun mon tue wed thu fri sat'.split(' ')

const fieldRules: readonly FieldRule[] = [
  { name: 'second', min: 0, max: 59 },
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  {
    name: 'day of the month',
    min: 1,
    max: 31,
    special: {
      pattern: /^(L|LW|([1-9]|[12]\d|3[01])W)$/i,
      says: ', L for the last one, 15W for the weekday nearest to it',
    },
  },
  { name: 'month', min: 1, max: 12, names: monthNames },
  {
    name: 'day of the week',
    min: 0,
    max: 7,
    names: weekdayNames,
    special: {
      pattern: /^([0-7]|[a-z]{3})(#[1-5]|L)$/i,
      says: ', 5#2 for the second Friday of the month, 5L for its last',
    },
  },
]

const nicknames: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
])

/** The six fields of an expression, seconds first; of one that has no five or six, whatever there is. */
export function fieldsOf(cron: string): readonly string[] {
  const text = cron.trim()
  const fields = (nicknames.get(text.toLowerCase()) ?? text).split(/\s+/)
  return fields.length === 5 ? ['0', ...fields] : fields
}

/** What is wrong with the way in which an expression is written; null: nothing. */
export function findFieldProblem(cron: string): string | null {
  const fields = fieldsOf(cron)
  if (fields.length !== fieldRules.length) {
    const nicknameList = [...nicknames.keys()].join(', ')
    return `takes five fields (minute, hour, day, month, weekday), six with seconds first, or one of ${nicknameList}`
  }
  const problems = fieldRules.flatMap((rule, i) =>
    (fields[i] ?? '').split(',').flatMap((item) => findItemProblem(rule, item) ?? []),
  )
  return problems[0] ?? null
}

/** A field is a list of items, such as `5`, `1-5`, `*` or a step of a range. */
function findItemProblem(rule: FieldRule, item: string): string | null {
  if (isSpecial(rule, item) || isRange(rule, item)) return null
  return `has "${item}" for the ${rule.name}, which takes ${wanted(rule)}`
}

function isSpecial({ special, names = [] }: FieldRule, item: string): boolean {
  const name = /^[a-z]{3}/i.exec(item)?.[0].toLowerCase()
  return special?.pattern.test(item) === true && (name === undefined || names.includes(name))
}

/** All, one, a range, or a step of all or of a range. */
function isRange(rule: FieldRule, item: string): boolean {
  const [, whole, from, to, step] = /^(?:(\*)|(\w{1,3})(?:-(\w{1,3}))?)(?:\/(\d{1,2}))?$/.exec(item) ?? []
  const hasGoodStep = step === undefined || (Number(step) >= 1 && Number(step) <= rule.max - rule.min)
  if (whole !== undefined) return hasGoodStep
  const [low, high] = [valueOf(rule, from ?? ''), valueOf(rule, to ?? from ?? '')]
  if (to === undefined) return step === undefined && isWithin(rule, low)
  // A week may also end with Sunday.
  const end = high === 0 && rule.max === 7 ? 7 : high
  return hasGoodStep && isWithin(rule, low) && isWithin(rule, end) && low <= end
}

function isWithin({ min, max }: FieldRule, value: number): boolean {
  return value >= min && value <= max
}

/** NaN when it is neither a number nor a name. */
function valueOf({ names, min }: FieldRule, text: string): number {
  const place = names?.indexOf(text.toLowerCase()) ?? -1
  if (place >= 0) return place + min
  return /^\d+$/.test(text) ? Number(text) : Number.NaN
}

function wanted({ min, max, names, special }: FieldRule): string {
  const values = names ? `${min} to ${max} or ${names[0]} to ${names.at(-1)}` : `${min} to ${max}`
  return `${values}, written as in *, ${min + 1}-${min + 3}, */2 or ${min + 1},${min + 3}${special?.says ?? ''}`
}
