/** What the vals of the load do. Each says first that it is executed, and fails if it cannot say so. */
export const valKinds = ['quick', 'slow', 'throwing', 'script'] as const
export type ValKind = (typeof valKinds)[number]

/** Of a hundred runs of the API, how many are of each kind. */
export const shares: Readonly<Record<ValKind, number>> = { quick: 73, slow: 10, throwing: 12, script: 5 }

export const thrownOnPurpose = 'on purpose'

export function codeOf(kind: ValKind | 'scheduled', counterUrl: string): string {
  return `const count = async () => {
  const response = await fetch('${counterUrl}/' + valley.runId + '/' + crypto.randomUUID())
  if (response.status !== 204) throw new Error('not counted: ' + response.status)
}
${bodies[kind]}
`
}

const bodies: Readonly<Record<ValKind | 'scheduled', string>> = {
  quick: `export default async (number: number) => {
  await count()
  return number
}`,
  slow: `export default async (_: number, ms: number) => {
  await count()
  await new Promise((resolve) => setTimeout(resolve, ms))
}`,
  throwing: `export default async (number: number) => {
  await count()
  if (number % 5 !== 0) throw new Error('${thrownOnPurpose}')
}`,
  script: `await count()
console.log('from top to bottom')`,
  scheduled: `export default async () => {
  await count()
}`,
}
