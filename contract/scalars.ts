import { z } from 'zod'
import { limits } from './limits.ts'

/** Text that PostgreSQL can keep and that comes back as it was sent: no NUL, no lone surrogate. */
export function text({ min = 0, max }: { readonly min?: number; readonly max: number }) {
  return z
    .string()
    .min(min)
    .max(max)
    .refine((value) => !value.includes('\0'), 'must not contain the NUL character')
    .refine((value) => value.isWellFormed(), 'must be well-formed Unicode, without lone surrogates')
}

export const Id = z
  .uuid()
  .toLowerCase()
  .meta({ wire: { type: 'string', format: 'uuid', examples: ['0199f2ab-4c1e-7d3a-9b52-6f0c1d2e3f40'] } })

/** How a time is written in every answer: ISO 8601, UTC, milliseconds. */
export const Timestamp = z.iso.datetime({ precision: 3 }).meta({
  wire: {
    type: 'string',
    format: 'date-time',
    pattern: String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`,
    examples: ['2026-11-14T09:30:00.000Z'],
  },
})

export const Username = z
  .string()
  .regex(
    /^[a-z](?:[a-z0-9]|-(?=[a-z0-9])){1,29}$/,
    'takes 2 to 30 of a-z, 0-9 and single hyphens, and starts with a letter',
  )
  .meta({ examples: ['alice'] })

export const ValName = z
  .string()
  .regex(/^[a-zA-Z][a-zA-Z0-9_]{0,47}$/, 'takes 1 to 48 of a-z, A-Z, 0-9 and _, and starts with a letter')
  .meta({ examples: ['hello'] })

/** A moment in a query, as any ISO 8601 with an offset. A `+` that a client forgot to encode arrives as a space. */
export const MomentParam = z
  .string()
  .transform((value, context) => {
    const parsed = z.iso.datetime({ offset: true }).safeParse(spellOut(value))
    if (parsed.success) return new Date(parsed.data)
    context.addIssue('must be an ISO 8601 time with an offset, such as 2026-11-14T09:30:00Z')
    return z.NEVER
  })
  .meta({ wire: { type: 'string', format: 'date-time' } })

export const BooleanParam = z
  .enum(['true', 'false'])
  .transform((value) => value === 'true')
  .meta({ wire: { type: 'boolean' } })

/** A whole number in a query or a path, where everything arrives as text. */
export function integerParam({ min, max }: { readonly min: number; readonly max: number }) {
  return integerText(min, max).meta({ wire: { type: 'integer', minimum: min, maximum: max } })
}

export function integerParamOr(
  standard: number,
  { min, max }: { readonly min: number; readonly max: number },
) {
  const wire = { type: 'integer', minimum: min, maximum: max, default: standard }
  return integerText(min, max).default(standard).meta({ wire })
}

export const VersionParam = integerParam({ min: 1, max: limits.versionMax })

function integerText(min: number, max: number) {
  return z
    .union([z.string().regex(/^-?\d{1,15}$/, 'must be a whole number'), z.number()])
    .transform(Number)
    .pipe(z.int().min(min).max(max))
}

/** ISO 8601 also lets seconds and the minutes of an offset be left out, and writes +0200 and 1,5. */
function spellOut(value: string): string {
  return value
    .replace(/ (?=\d\d(:?\d\d)?$)/, '+')
    .replace(',', '.')
    .replace(/(T\d\d:\d\d)(?=Z|[+-])/, '$1:00')
    .replace(/([+-]\d\d):?(\d\d)?$/, (_, hours: string, minutes = '00') => `${hours}:${minutes}`)
}
