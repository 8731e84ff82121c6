import type { FromWorker, ToWorker } from './control-message.ts'
import type { DenoApi } from './deno-api.ts'

export interface Control {
  readonly send: (message: FromWorker) => void
  readonly messages: () => AsyncGenerator<ToWorker>
}

/** The line to the runner. All its tools are taken before the val can exchange them. */
export async function openControl(deno: DenoApi, path: string): Promise<Control> {
  const connection = await deno.connect({ transport: 'unix', path })
  const read = connection.read.bind(connection)
  const write = connection.write.bind(connection)
  const { stringify, parse } = JSON
  const encoder = new TextEncoder()
  const encode = encoder.encode.bind(encoder)
  const decoder = new TextDecoder()
  const decode = decoder.decode.bind(decoder)
  let queued = ''
  let isWriting = false
  const settled = Promise.resolve()

  /** What is sent meanwhile goes out together with the next write. */
  async function flush(): Promise<void> {
    isWriting = true
    // A turn of the event loop's microtasks: lines printed one after the other share a write.
    await settled
    while (queued !== '') {
      let bytes = encode(queued)
      queued = ''
      while (bytes.length > 0) bytes = bytes.subarray(await write(bytes))
    }
    isWriting = false
  }

  return {
    send(message) {
      queued += `${stringify(message)}\n`
      if (!isWriting) flush().catch(() => undefined)
    },
    async *messages() {
      const chunk = new Uint8Array(65_536)
      let text = ''
      for (;;) {
        const count = await read(chunk).catch(() => null)
        if (count === null) return
        text += decode(chunk.subarray(0, count), { stream: true })
        const lines = text.split('\n')
        text = lines.pop() ?? ''
        for (const line of lines) yield parse(line) as ToWorker
      }
    },
  }
}
