import assert from 'node:assert/strict'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { openapi } from '@valley/contract/openapi.ts'

const document = openapi()
const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv)
ajv.addSchema(closeObjects({ $id: 'valley', ...document }) as object)

const paths = Object.keys(document.paths).map((path) => ({
  path,
  pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}/?$`),
}))
const validators = new Map<string, ValidateFunction>()

/** Sends the request and holds the answer against the document: its status, media type and body must be declared. */
export async function checkedFetch(input: string | URL, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(input, init)
  const method = (init.method ?? 'GET').toLowerCase()
  const { pathname } = new URL(input)
  const known = paths.find(({ pattern }) => pattern.test(pathname))?.path
  const operation = known === undefined ? undefined : document.paths[known]?.[method]
  if (known === undefined || operation === undefined) return response
  // What goes on is not read here: a clone of it would have to be kept.
  const isEndless = response.headers.get('content-type') === 'text/event-stream'
  if (!isEndless) await checkAnswer(response.clone(), { method, path: known })
  return response
}

async function checkAnswer(response: Response, { method, path }: { method: string; path: string }) {
  const where = `${method.toUpperCase()} ${path} → ${response.status}`
  const pointer = ['paths', path, method, 'responses', String(response.status)]
  const declared = at(pointer) as { content?: Record<string, unknown> } | undefined
  const text = await response.text()
  assert.ok(declared, `${where} is not in the OpenAPI document: ${text}`)
  const [media] = Object.keys(declared.content ?? {})
  if (media === undefined) return assert.equal(text, '', `${where} should have no body`)
  assert.equal(response.headers.get('content-type')?.split(';')[0], media, where)
  if (media !== 'application/json') return undefined
  const validate = validatorAt([...pointer, 'content', media, 'schema'])
  assert.ok(
    validate(JSON.parse(text)),
    `${where}: ${ajv.errorsText(validate.errors)}\n${text.slice(0, 2_000)}`,
  )
  assert.equal(response.headers.has('x-request-id'), true, where)
}

function at(pointer: readonly string[]): unknown {
  return pointer.reduce<unknown>(
    (node, key) => (node as Record<string, unknown> | undefined)?.[key],
    document,
  )
}

function validatorAt(pointer: readonly string[]): ValidateFunction {
  const key = pointer
    .map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')))
    .join('/')
  const known = validators.get(key) ?? ajv.compile({ $ref: `valley#/${key}` })
  validators.set(key, known)
  return known
}

/** Clients must bear new fields, our tests must not: a field that nobody declared may be a leak. */
function closeObjects(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closeObjects)
  if (typeof node !== 'object' || node === null) return node
  const closed = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, closeObjects(value)]))
  const isOpenObject = closed['type'] === 'object' && closed['properties'] && !closed['additionalProperties']
  return isOpenObject ? { ...closed, additionalProperties: false } : closed
}
