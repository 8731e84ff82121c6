import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { openapi } from '@valley/contract/openapi.ts'
import type { Operation } from '@valley/contract/operation.ts'
import { operations } from '@valley/contract/operations.ts'

const document = openapi()
const declared = Object.entries<Operation>(operations)

test('the document is a valid OpenAPI 3.1 document', async () => {
  const validator = new Validator()
  const { valid, errors } = await validator.validate(structuredClone(document))
  assert.equal(valid, true, JSON.stringify(errors))
  assert.equal(validator.version, '3.1')
})

test('the document has every operation under its name, method and path', () => {
  const written = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const { operationId } = operation as { operationId: string }
      return `${operationId} ${method.toUpperCase()} ${path}`
    }),
  )
  const wanted = declared.map(([name, { method, path }]) => `${name} ${method} ${path}`)
  assert.deepEqual(written.toSorted(), wanted.toSorted())
})

test('every operation with a body has an example of it, which fits its schema in the contract and in the document', () => {
  const ajv = new Ajv2020({ strict: false })
  addFormats.default(ajv)
  ajv.addSchema({ $id: 'valley', ...document })
  for (const [name, { path, method, body, exampleBody }] of declared) {
    assert.equal(exampleBody !== undefined, body !== undefined, name)
    if (!body) continue
    assert.equal(body.safeParse(exampleBody).success, true, name)
    const pointer = [
      'paths',
      path,
      method.toLowerCase(),
      'requestBody',
      'content',
      'application/json',
      'schema',
    ]
    const at = pointer.map((part) => encodeURIComponent(part.replaceAll('/', '~1'))).join('/')
    const validate = ajv.compile({ $ref: `valley#/${at}` })
    assert.equal(validate(exampleBody), true, `${name}: ${ajv.errorsText(validate.errors)}`)
  }
})

test('every parameter in a path is declared, and none that is not in it', () => {
  for (const [name, { path, params }] of declared) {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, param]) => param)
    assert.deepEqual(Object.keys(params?.shape ?? {}), inPath, name)
  }
})
