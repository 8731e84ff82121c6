/** Whether arrays and objects are nested in a value through more than so many levels. It descends no further than that. */
export function isDeeperThan(value: unknown, levelsMax: number): boolean {
  let level: readonly object[] = [value].filter(isNested)
  for (let depth = 0; depth < levelsMax; depth++) {
    if (level.length === 0) return false
    level = level.flatMap((part) => Object.values(part).filter(isNested))
  }
  return level.length > 0
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
