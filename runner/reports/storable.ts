/** What PostgreSQL can keep of a text that a val made up: no NUL, no half of a character. */
export function storable(text: string, charsMax: number): string {
  const cut = text.length > charsMax ? `${text.slice(0, charsMax)}…` : text
  return cut.toWellFormed().replaceAll('\0', '\uFFFD')
}
