import { z } from 'zod'
import { limits } from './limits.ts'
import { listOf } from './lists.ts'
import type { Operations } from './operation.ts'
import { Id, text, Timestamp } from './scalars.ts'
import { ValId } from './vals.ts'

const namePattern = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/
const nameExamples = ['API_KEY']

export const VariableName = z
  .string()
  .regex(namePattern, 'takes 1 to 64 of a-z, A-Z, 0-9 and _, and does not start with a digit')
  .meta({ examples: nameExamples })

interface ReservedNames {
  readonly pattern: RegExp
  readonly why: string
}

/** Names that a val cannot be given, in any letter case: they would steer what runs it, or do nothing at all. */
const reservedNames: readonly ReservedNames[] = [
  { pattern: /^(DENO|V8|NPM_CONFIG)_/i, why: 'Deno reads it for itself' },
  { pattern: /^NODE_(OPTIONS|EXTRA_CA_CERTS|PATH)$/i, why: 'the runtime reads it for itself' },
  { pattern: /^(LD|DYLD|MALLOC|GLIBC)_/i, why: 'it changes how programs are loaded' },
  { pattern: /^(HTTPS?|ALL|NO|FTP)_PROXY$/i, why: 'it changes the way to the network' },
  { pattern: /^SSL_CERT_(FILE|DIR)$/i, why: 'it names a file, and a val has none' },
  { pattern: /^(HOME|PATH|PWD|TMP|TEMP|TMPDIR|NO_COLOR|FORCE_COLOR)$/i, why: 'Valley sets it' },
  { pattern: /^__proto__$/, why: 'JavaScript gives it a meaning of its own' },
  { pattern: /^VALLEY_/i, why: 'Valley keeps these names for itself' },
]

/** Why a variable cannot have this name; null when it can. */
export function findNameProblem(name: string): string | null {
  const parsed = VariableName.safeParse(name)
  if (!parsed.success) return parsed.error.issues[0]?.message ?? 'does not fit'
  const reserved = reservedNames.find(({ pattern }) => pattern.test(name))
  return reserved ? `is reserved, because ${reserved.why}; choose another, such as MY_${name}` : null
}

/** What is shown of a variable: never its value. */
export const Variable = z.object({ name: VariableName, updatedAt: Timestamp }).meta({ id: 'Variable' })
export type Variable = z.infer<typeof Variable>

const VariableValue = text({ max: limits.variableBytesMax })
  .refine(
    (value) => new TextEncoder().encode(value).length <= limits.variableBytesMax,
    `must have at most ${limits.variableBytesMax} bytes in UTF-8`,
  )
  .describe('Write-only: no answer ever shows it again.')

/** Any text: one that does not fit is refused with the reason, unlike an id, which is then merely unknown. */
const ChosenName = z
  .string()
  .meta({ wire: { type: 'string', pattern: namePattern.source, examples: nameExamples } })

const listDescription = 'Names only, in alphabetical order. There are few, so they come whole, without pages.'
const setDescription =
  'Kept encrypted and never shown again. The val sees it in Deno.env and process.env from its next run on. ' +
  `At most ${limits.variablesMax} variables, ${limits.variablesBytesMax} bytes of values together.`

export const env = {
  listMyVariables: {
    method: 'GET',
    path: '/v1/me/env',
    tag: 'Environment',
    summary: 'List the names of your environment variables, which all your vals see',
    description: listDescription,
    auth: 'required',
    scope: 'user:read',
    response: { 200: listOf(Variable) },
  },
  setMyVariable: {
    method: 'PUT',
    path: '/v1/me/env/{name}',
    tag: 'Environment',
    summary: 'Set an environment variable for all your vals',
    description: setDescription,
    auth: 'required',
    scope: 'user:write',
    params: z.object({ name: ChosenName }),
    body: z.object({ value: VariableValue }),
    response: { 204: null },
    exampleBody: { value: 'a secret' },
  },
  deleteMyVariable: {
    method: 'DELETE',
    path: '/v1/me/env/{name}',
    tag: 'Environment',
    summary: 'Delete an environment variable of yours; again is fine',
    auth: 'required',
    scope: 'user:write',
    params: z.object({ name: VariableName }),
    response: { 204: null },
    errors: ['not_found'],
  },
  listValVariables: {
    method: 'GET',
    path: '/v1/vals/{val_id}/env',
    tag: 'Environment',
    summary: 'List the names of the environment variables of a val of yours',
    description: listDescription,
    auth: 'required',
    scope: 'val:read',
    params: ValId,
    response: { 200: listOf(Variable) },
    errors: ['not_found'],
  },
  setValVariable: {
    method: 'PUT',
    path: '/v1/vals/{val_id}/env/{name}',
    tag: 'Environment',
    summary: 'Set an environment variable of a val of yours; it wins over your own of that name',
    description: setDescription,
    auth: 'required',
    scope: 'val:write',
    params: z.object({ val_id: Id, name: ChosenName }),
    body: z.object({ value: VariableValue }),
    response: { 204: null },
    errors: ['not_found'],
    exampleBody: { value: 'a secret' },
  },
  deleteValVariable: {
    method: 'DELETE',
    path: '/v1/vals/{val_id}/env/{name}',
    tag: 'Environment',
    summary: 'Delete an environment variable of a val of yours; again is fine',
    auth: 'required',
    scope: 'val:write',
    params: z.object({ val_id: Id, name: VariableName }),
    response: { 204: null },
    errors: ['not_found'],
  },
} as const satisfies Operations
