import { z } from 'zod'

export type JsonSchema = { readonly [key: string]: unknown }

/** Schemas with an id of their own, gathered while the document is written. */
export type Components = Record<string, JsonSchema>

/** What goes over the wire, as JSON Schema; a shape with an id becomes a reference to its component. */
export function jsonSchema(schema: z.ZodType, io: 'input' | 'output', components: Components): JsonSchema {
  // Only a nested shape is written as a reference, so every schema is wrapped once.
  const { $defs = {}, properties = {} } = z.toJSONSchema(z.object({ it: schema }), {
    io,
    override: ({ zodSchema, jsonSchema: written }) =>
      adaptToWire(z.globalRegistry.get(zodSchema) ?? {}, written),
  })
  for (const [id, component] of Object.entries($defs)) components[id] = referToComponents(component)
  return referToComponents(properties['it'])
}

/** A value that is text in a URL but a number to people says so in `wire`; new fields may join any object. */
function adaptToWire({ wire }: Record<string, unknown>, written: Record<string, unknown>) {
  if (wire) {
    for (const key of Object.keys(written)) if (key !== 'description') delete written[key]
    Object.assign(written, wire)
  }
  delete written['wire']
  if (written['additionalProperties'] === false) delete written['additionalProperties']
  if (written['minimum'] === Number.MIN_SAFE_INTEGER) delete written['minimum']
  if (written['maximum'] === Number.MAX_SAFE_INTEGER) delete written['maximum']
}

function referToComponents(schema: unknown): JsonSchema {
  const text = JSON.stringify(schema).replaceAll('#/$defs/', '#/components/schemas/')
  const { id: _, ...rest } = JSON.parse(text) as Record<string, unknown>
  return rest
}
