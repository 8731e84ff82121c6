import { type Agent, request } from 'node:http'

const timeoutMs = 60_000

/** One GET of a val, with the name in the Host header, since not every resolver knows *.localhost. */
export async function callVal(
  valsUrl: string,
  label: string,
  agent?: Agent,
): Promise<{ status: number; text: string }> {
  const { port, hostname } = new URL(valsUrl)
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>()
  const headers = { host: `${label}.${hostname}:${port}` }
  const sent = request({ host: '127.0.0.1', port, headers, agent, timeout: timeoutMs }, (response) => {
    let text = ''
    response.setEncoding('utf8')
    response.on('data', (chunk: string) => (text += chunk))
    response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    response.on('error', reject)
  })
  sent.on('timeout', () => sent.destroy(new Error('No answer in time.')))
  sent.on('error', reject)
  sent.end()
  return promise
}
