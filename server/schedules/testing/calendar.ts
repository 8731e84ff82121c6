interface Days {
  readonly dayOfMonth: string
  readonly month: string
  readonly dayOfWeek: string
}

/** Whether an expression names this day, item by item: of the month or of the week, where it names both. */
export function isNamed({ dayOfMonth, month, dayOfWeek }: Days, day: Date): boolean {
  if (!isAny(month, (item) => isWithin(item, day.getUTCMonth() + 1))) return false
  const isInMonth = isAny(dayOfMonth, (item) => isDayOfMonth(item, day))
  const isInWeek = isAny(dayOfWeek, (item) => isDayOfWeek(item, day))
  return dayOfMonth === '*' || dayOfWeek === '*' ? isInMonth && isInWeek : isInMonth || isInWeek
}

function isAny(field: string, is: (item: string) => boolean): boolean {
  return field === '*' || field.split(',').some(is)
}

function isWithin(item: string, value: number): boolean {
  const [low = 0, high = low] = item.split('-').map(Number)
  return value >= low && value <= high
}

function isDayOfMonth(item: string, day: Date): boolean {
  const date = day.getUTCDate()
  if (item === 'L') return date === lastOf(day)
  if (item === 'LW') return date === nearestWeekday(lastOf(day), day)
  if (item.endsWith('W')) return date === nearestWeekday(Number.parseInt(item, 10), day)
  return isWithin(item, date)
}

function isDayOfWeek(item: string, day: Date): boolean {
  const date = day.getUTCDate()
  const weekday = day.getUTCDay()
  const [name = '', nth] = item.split('#')
  if (name.endsWith('L')) return weekday === Number.parseInt(name, 10) && date > lastOf(day) - 7
  if (nth !== undefined) return weekday === Number(name) && Math.ceil(date / 7) === Number(nth)
  return isWithin(name, weekday)
}

function lastOf(day: Date): number {
  return new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1, 0)).getUTCDate()
}

/** Monday to Friday, without leaving the month. */
function nearestWeekday(date: number, day: Date): number {
  const weekday = new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth(), date)).getUTCDay()
  if (weekday === 6) return date === 1 ? 3 : date - 1
  if (weekday === 0) return date === lastOf(day) ? date - 2 : date + 1
  return date
}
