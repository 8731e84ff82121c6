/** JSON that jsonb takes: it has no NUL and no half of a surrogate pair, either of which code may well print. */
export function storableJson(value: unknown): string {
  const json = JSON.stringify(value)
  // JSON.stringify escapes both, so that their absence shows without a walk through the value.
  if (!/\\u(?:0000|d[89a-f])/.test(json)) return json
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'string' ? storableText(part) : part))
}

/** What cannot be kept is shown as the replacement character. */
function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\u{FFFD}')
}
