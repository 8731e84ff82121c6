import type { z } from 'zod'

/** The environment in the given shape. Everything that is wrong is told at once. */
export function parseEnv<Shape extends z.ZodType>(shape: Shape, env: NodeJS.ProcessEnv): z.output<Shape> {
  const parsed = shape.safeParse(env)
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map(({ path, message }) => `  ${path.join('.')}: ${message}`)
  throw new ConfigError(`The configuration does not fit:\n${problems.join('\n')}`)
}

export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}
