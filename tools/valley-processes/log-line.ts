interface LogLine {
  level: number
  time: string
  event?: string
  message?: string
  url?: string
  err?: { message?: string }
}

const warningLevel = 40
const errorLevel = 50

/** The server says with one line of its log that it can be called, and where. */
export function readListeningUrlOrNull(text: string): string | null {
  // Every line of a busy server comes through here; most need not be parsed.
  if (!text.includes('"listening"')) return null
  const line = parseLineOrNull(text)
  return line?.event === 'listening' && line.url !== undefined ? line.url : null
}

/** What a person at the terminal should see of the log: warnings, errors, and what is no log line at all. */
export function formatWarningOrNull(text: string): string | null {
  const line = parseLineOrNull(text)
  if (line === null) return text.trim() === '' ? null : text
  if (line.level < warningLevel) return null
  const level = line.level < errorLevel ? 'warning' : 'error'
  const words = [line.message ?? line.event, line.err?.message].filter((part) => part !== undefined)
  return `${line.time} ${level}: ${words.join(': ')}`
}

function parseLineOrNull(text: string): LogLine | null {
  if (!text.startsWith('{')) return null
  try {
    return JSON.parse(text) as LogLine
  } catch {
    return null
  }
}
