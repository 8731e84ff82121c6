/** An error whose message tells a person what to do; it is printed without a stack. */
export class PlainError extends Error {
  override readonly name = 'PlainError'
}
