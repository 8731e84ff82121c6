import type { IncomingMessage } from 'node:http'

/** Of one connection only, or ours to say. */
const dropped = new Set([
  'host',
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'x-real-ip',
  'forwarded',
])

export interface Forwarding {
  readonly runId: string
  readonly trustProxy: boolean
  readonly protocol: 'http' | 'https'
}

/** The request's headers as a val may see them, in undici's flat form: name, value, name, value. */
export function requestHeaders(
  request: IncomingMessage,
  { runId, trustProxy, protocol }: Forwarding,
): string[] {
  const { rawHeaders, headers, socket } = request
  // One, the one that chose the val: a second one could mean another val to whoever reads it.
  const kept: string[] = ['host', headers.host ?? '']
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? ''
    const value = rawHeaders[i + 1] ?? ''
    const lower = name.toLowerCase()
    if (dropped.has(lower) || lower.startsWith('valley-') || isOurToken(lower, value)) continue
    kept.push(name, value)
  }
  const before = trustProxy ? headers['x-forwarded-for'] : undefined
  const remote = socket.remoteAddress ?? ''
  kept.push('x-forwarded-for', before ? `${String(before)}, ${remote}` : remote)
  kept.push('x-forwarded-proto', protocol, 'valley-run', runId)
  return kept
}

/** Whoever calls a val with a token of ours lets us know who they are, and not the val's author. */
function isOurToken(name: string, value: string): boolean {
  return name === 'authorization' && /^bearer\s+vly_/i.test(value)
}
