import { ErrorBody, errors } from './errors.ts'
import { type Components, jsonSchema } from './json-schema.ts'
import { limits } from './limits.ts'
import type { Operation } from './operation.ts'
import { errorCodesOf, operations } from './operations.ts'

const statusMeaning = { 200: 'OK', 201: 'Created', 202: 'Accepted; under way', 204: 'Done; no body' } as const

/** The OpenAPI 3.1 document of everything in `operations`. */
export function openapi() {
  const components: Components = {}
  const paths: Record<string, Record<string, unknown>> = {}
  for (const [name, operation] of Object.entries<Operation>(operations)) {
    const path = (paths[operation.path] ??= {})
    path[operation.method.toLowerCase()] = describeOperation(name, operation, components)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Valley',
      version: '1',
      summary: 'Write a small TypeScript program, save it, and every version is kept.',
      description:
        'Lists answer newest first; follow `links.next`. Errors carry a code, a message that says what to do, and a requestId.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(Object.values(operations).map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: Object.fromEntries(Object.entries(components).toSorted(([a], [b]) => (a < b ? -1 : 1))),
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'A token that starts with vly_.' },
      },
    },
  }
}

function describeOperation(operationId: string, operation: Operation, components: Components) {
  return {
    operationId,
    tags: [operation.tag],
    summary: operation.summary,
    ...(operation.description && { description: operation.description }),
    ...(operation.scope && { 'x-scope': operation.scope }),
    security: securityOf(operation),
    parameters: [
      ...parameters('path', operation.params, components),
      ...parameters('query', operation.query, components),
      ...headerParameters(operation),
    ],
    ...(operation.body && { requestBody: requestBody(operation, components) }),
    responses: { ...successes(operation, components), ...failures(operation, components) },
  }
}

function securityOf({ auth }: Operation) {
  if (auth === 'none') return []
  return auth === 'optional' ? [{}, { token: [] }] : [{ token: [] }]
}

function parameters(where: 'path' | 'query', schema: Operation['params'], components: Components) {
  if (!schema) return []
  return Object.entries(schema.shape).map(([name, field]) => {
    const { description, ...written } = jsonSchema(field, 'input', components)
    const required = where === 'path' || !field.safeParse(undefined).success
    return { name, in: where, required, ...(description ? { description } : {}), schema: written }
  })
}

function headerParameters(operation: Operation) {
  const string = { type: 'string' }
  return [
    operation.etag && operation.method === 'GET' && { name: 'If-None-Match', in: 'header', schema: string },
    operation.ifMatch && { name: 'If-Match', in: 'header', schema: string },
    operation.events && { name: 'Last-Event-ID', in: 'header', schema: string },
    operation.method === 'POST' && {
      name: 'Idempotency-Key',
      in: 'header',
      description: `The same key and request within ${limits.idempotencyKeyHours} hours get the first answer again.`,
      schema: { ...string, minLength: 1, maxLength: limits.idempotencyKeyCharsMax },
    },
  ].filter((parameter) => parameter !== false && parameter !== undefined)
}

function requestBody(
  { body, bodyMayBeMissing, takesRawCode, exampleBody }: Operation,
  components: Components,
) {
  const rawCode = { schema: { type: 'string', minLength: 1, maxLength: limits.codeCharsMax } }
  const rawTypes = ['text/plain', 'text/javascript', 'application/javascript', 'application/typescript']
  return {
    required: bodyMayBeMissing !== true,
    content: {
      ...(body && {
        'application/json': {
          schema: jsonSchema(body, 'input', components),
          ...(exampleBody && { example: exampleBody }),
        },
      }),
      ...(takesRawCode && Object.fromEntries(rawTypes.map((type) => [type, rawCode]))),
    },
  }
}

function successes(operation: Operation, components: Components) {
  const media = operation.media ?? 'application/json'
  const answers = Object.entries(operation.response).map(([status, schema]) => [
    status,
    {
      description: statusMeaning[Number(status) as keyof typeof statusMeaning],
      ...(operation.etag && { headers: { ETag: { schema: { type: 'string' } } } }),
      ...(schema && {
        content: {
          [media]: { schema: jsonSchema(schema, 'output', components), ...eventsOf(operation, components) },
        },
      }),
    },
  ])
  const unchanged =
    operation.etag && operation.method === 'GET' ? { 304: { description: 'Not changed' } } : {}
  return { ...Object.fromEntries(answers), ...unchanged }
}

/** OpenAPI 3.1 has no word for events; the shape of each one's data is told all the same. */
function eventsOf({ events }: Operation, components: Components) {
  if (!events) return {}
  const shapes = Object.entries(events).map(([name, schema]) => [
    name,
    jsonSchema(schema, 'output', components),
  ])
  return { 'x-events': Object.fromEntries(shapes) }
}

function failures(operation: Operation, components: Components) {
  const byStatus = Map.groupBy(errorCodesOf(operation), (code) => errors[code].status)
  const schema = jsonSchema(ErrorBody, 'output', components)
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      {
        description: codes.map((code) => `\`${code}\`: ${errors[code].means}`).join(' '),
        content: { 'application/json': { schema } },
      },
    ]),
  )
}
