import type { ThrownError } from './control-message.ts'

const textCharsMax = 8_192

/** Anything can be thrown, and reading any of it can throw again. */
export function describeError(thrown: unknown): ThrownError {
  try {
    if (!(thrown instanceof Error)) return { name: 'Thrown', message: cut(String(thrown)) }
    const { name, message, stack } = thrown
    return {
      name: cut(asText(name)),
      message: cut(asText(message)),
      ...(stack ? { stack: cut(withCause(thrown, asText(stack))) } : {}),
    }
  } catch {
    return { name: 'Thrown', message: 'Something that cannot be shown was thrown.' }
  }
}

function withCause(error: Error, stack: string): string {
  const { cause } = error
  return cause instanceof Error && cause.stack ? `${stack}\nCaused by: ${cause.stack}` : stack
}

/** An error's fields can be anything, whatever their types say. */
function asText(value: unknown): string {
  return String(value)
}

function cut(text: string): string {
  return text.length > textCharsMax ? `${text.slice(0, textCharsMax)}…` : text
}
