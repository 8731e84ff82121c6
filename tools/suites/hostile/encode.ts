/** The bytes of a text as a careless client would send them: a lone surrogate becomes three bytes that no UTF-8 has. */
export function carelessBytes(text: string): Buffer {
  return Buffer.concat(Array.from(text, bytesOf))
}

export function percentEncode(text: string): string {
  return Array.from(text, (char) => (/[\w.~-]/.test(char) ? char : percentBytes(bytesOf(char)))).join('')
}

function bytesOf(char: string): Buffer {
  const point = char.codePointAt(0) ?? 0
  if (point < 0xd8_00 || point > 0xdf_ff) return Buffer.from(char)
  return Buffer.from([0xe0 | (point >> 12), 0x80 | ((point >> 6) & 0x3f), 0x80 | (point & 0x3f)])
}

function percentBytes(bytes: Buffer): string {
  return [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
}
