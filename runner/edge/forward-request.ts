import type { IncomingMessage } from 'node:http'
import type { RunRequest } from '@valley/contract/runs.ts'
import { limits } from '../limits.ts'
import type { OpenRun } from '../reports/open-run.ts'
import { requestHeaders } from './request-headers.ts'

interface Forwarding {
  readonly valsUrl: URL
  readonly trustProxy: boolean
}

/** The request as its worker gets it, all but the body. */
export function forwardRequest(request: IncomingMessage, run: OpenRun, { valsUrl, trustProxy }: Forwarding) {
  const protocol = protocolOf(request, valsUrl, trustProxy)
  return {
    // The absolute form tells the val the address at which it was called.
    path: `${protocol}://${request.headers.host}${targetOf(request)}`,
    method: request.method ?? 'GET',
    headers: requestHeaders(request, { runId: run.id, trustProxy, protocol }),
  }
}

/** What is recorded of it. */
export function describeRequest(request: IncomingMessage): RunRequest {
  return { method: request.method ?? 'GET', path: targetOf(request).slice(0, limits.requestPathCharsMax) }
}

/** Clients may send the absolute form themselves, and `*` with OPTIONS. */
function targetOf({ url = '/' }: IncomingMessage): string {
  if (url.startsWith('/')) return url
  const parsed = URL.parse(url)
  return parsed ? `${parsed.pathname}${parsed.search}` : '/'
}

function protocolOf(request: IncomingMessage, valsUrl: URL, trustProxy: boolean): 'http' | 'https' {
  const told = trustProxy ? request.headers['x-forwarded-proto'] : undefined
  if (told === 'http' || told === 'https') return told
  return valsUrl.protocol === 'https:' ? 'https' : 'http'
}
