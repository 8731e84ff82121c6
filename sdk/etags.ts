/** Beside the answers rather than in them: what you read, copy, compare and store is exactly what was sent. */
const etags = new WeakMap<object, string>()

/** The ETag that came with this val, or undefined: a list and a copy have none. */
export function etagOf(answered: object): string | undefined {
  return etags.get(answered)
}

export function rememberEtag(body: unknown, headers: Headers): void {
  const etag = headers.get('etag')
  if (etag !== null && typeof body === 'object' && body !== null) etags.set(body, etag)
}

/** Never leaves a condition out in silence: a write that was meant to be careful would overwrite. */
export function etagFrom(condition: object | string): string {
  const etag = typeof condition === 'string' ? condition : etagOf(condition)
  if (etag !== undefined) return etag
  throw new TypeError(
    'This val came without an ETag: pass one as it was answered, not a copy or a list item.',
  )
}
