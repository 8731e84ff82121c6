/** JSON that jsonb takes: it has no NUL and no half of a surrogate pair, either of which code may well print. */
export function storableJson(value: unknown): string {
  const json = JSON.stringify(value)
  // JSON.stringify escapes both, in names as in values, and whole pairs never. What cannot be kept is shown as the
  // replacement character; an escaped backslash is stepped over with what it escapes.
  if (!/\\u(?:0000|d[89a-f])/.test(json)) return json
  return json.replaceAll(/\\(?:u(?:0000|d[89a-f]..)|[^])/g, (escape) =>
    escape.length > 2 ? '\u{FFFD}' : escape,
  )
}
