import type { OutgoingHttpHeaders } from 'node:http'

type Headers = Record<string, string | string[] | undefined>

/** Of one connection only, or between the worker and us. */
const dropped = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
  'proxy-connection',
  'valley-outcome',
])

/** A val's headers as its client may see them, with the run to look up. */
export function answerHeaders(headers: Headers, runId?: string): OutgoingHttpHeaders {
  const kept: OutgoingHttpHeaders = {}
  for (const name in headers) {
    if (!dropped.has(name)) kept[name] = headers[name]
  }
  if (runId !== undefined) kept['valley-run'] = runId
  const cookies = headers['set-cookie']
  if (cookies !== undefined) kept['set-cookie'] = [cookies].flat().map(keepCookieHome)
  return kept
}

/** A cookie for the vals' whole domain would reach every other val: without Domain it stays with the one that set it. */
function keepCookieHome(cookie: string): string {
  return cookie
    .split(';')
    .filter((part, at) => at === 0 || !/^\s*domain\s*=/i.test(part))
    .join(';')
}
