import { limits } from './limits.ts'
import { ValleyError } from './valley-error.ts'

/** One event as it was sent. Without data it says only where the reader is. */
export interface RawEvent {
  readonly event: string
  readonly id: string
  readonly data: string
}

/** The events of a text/event-stream, as far as Valley uses that format. */
export async function* parseEvents(
  body: ReadableStream<Uint8Array>,
  onChunk: () => void,
): AsyncGenerator<RawEvent> {
  const decoder = new TextDecoder()
  const reader = body.getReader()
  let waiting = ''
  while (true) {
    const { done, value } = await reader.read()
    if (done) return
    onChunk()
    waiting += decoder.decode(value, { stream: true }).replaceAll('\r', '')
    const blocks = waiting.split('\n\n')
    waiting = blocks.pop() ?? ''
    if (waiting.length > limits.eventCharsMax) {
      throw new ValleyError('unexpected_answer', `An event has more than ${limits.eventCharsMax} characters.`)
    }
    for (const block of blocks) {
      const event = eventOf(block)
      if (event !== null) yield event
    }
  }
}

/** null for a comment, which only shows that the server is there. */
function eventOf(block: string): RawEvent | null {
  const fields = new Map<string, string>()
  for (const line of block.split('\n')) {
    const [, name, value] = /^(\w+): ?(.*)$/.exec(line) ?? []
    if (name !== undefined && value !== undefined) fields.set(name, value)
  }
  const id = fields.get('id')
  if (id === undefined) return null
  return { event: fields.get('event') ?? 'message', id, data: fields.get('data') ?? '' }
}
