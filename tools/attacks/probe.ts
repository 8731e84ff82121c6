import type { Attack } from './attack.ts'

interface Probe {
  readonly family: string
  readonly name: string
  /** What it tries, in words, and the expression that tries it: whatever does not throw has succeeded. */
  readonly tries: Readonly<Record<string, string>>
}

const patienceMs = 4_000

/** A val that tries many things at once and reports on each: refused with what, or what it got. */
export function probe({ family, name, tries }: Probe): Attack {
  const entries = Object.entries(tries).map(
    ([what, code]) => `${JSON.stringify(what)}: async () => (${code})`,
  )
  return {
    family,
    name,
    code: `
      const tries = {\n${entries.join(',\n')}\n}
      async function attempt([what, run]: [string, () => Promise<unknown>]) {
        const late = Promise.withResolvers<never>()
        const timer = setTimeout(() => late.reject(new Error('nobody said no in time')), ${patienceMs})
        try {
          return [what, 'GOT ' + Deno.inspect(await Promise.race([run(), late.promise])).slice(0, 500)]
        } catch (error) {
          const reason = [error?.name, error?.message, error?.cause?.message].filter(Boolean).join(': ')
          console.warn(what + ' | ' + reason)
          return [what, 'refused: ' + reason]
        } finally {
          clearTimeout(timer)
        }
      }
      export default async () => Response.json(Object.fromEntries(await Promise.all(Object.entries(tries).map(attempt))))
    `,
    must: { answer: 200, run: 'succeeded', refusesAll: true },
  }
}

/** Expressions that use a module, told apart by what they are imported as. */
export function using(module: string, expression: string): string {
  return `await import('${module}').then(async (it) => ${expression})`
}
