import type { IncomingMessage } from 'node:http'
import type { RunError } from '@valley/contract/runs.ts'
import { limits } from '../limits.ts'

export interface Trouble {
  readonly httpStatus: number
  /** Short, for programs: `val_threw`, `not_found`. */
  readonly code: string
  readonly message: string
  readonly error?: RunError | undefined
  readonly runId?: string | undefined
}

export interface Page {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** What a client sees in place of a val's answer: HTML in a browser, JSON for anything else. */
export function errorPage(request: IncomingMessage, trouble: Trouble): Page {
  const isBrowser = /\btext\/html\b/.test(request.headers.accept ?? '')
  const body = isBrowser ? writeHtml(trouble) : `${JSON.stringify(writeJson(trouble), null, 2)}\n`
  return {
    status: trouble.httpStatus,
    headers: {
      'content-type': isBrowser ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8',
      'content-length': String(Buffer.byteLength(body)),
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
      ...(trouble.runId ? { 'valley-run': trouble.runId } : {}),
      ...(trouble.httpStatus === 503 ? { 'retry-after': String(limits.retryAfterSeconds) } : {}),
    },
    body,
  }
}

function writeJson({ code, message, error, runId }: Trouble) {
  return { code, message, ...(error ? { error } : {}), ...(runId ? { runId } : {}) }
}

function writeHtml({ httpStatus, message, error, runId }: Trouble): string {
  const detail = error?.stack ?? (error && error.message !== message ? `${error.name}: ${error.message}` : '')
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${httpStatus} – Valley</title>
<style>
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
  body { max-width: 44rem; margin: 12vh auto; padding: 0 1.5rem }
  h1 { font-size: 1.25rem; margin: 0 0 .5rem }
  pre { overflow-x: auto; padding: 1rem; border-radius: .5rem; background: color-mix(in srgb, currentColor 8%, transparent); font-size: .875rem; white-space: pre-wrap }
  small { opacity: .65 }
</style>
<h1>${escapeHtml(headline(httpStatus))}</h1>
<p>${escapeHtml(message)}</p>
${detail ? `<pre>${escapeHtml(detail)}</pre>` : ''}
<small>${httpStatus}${runId ? ` · run ${escapeHtml(runId)}` : ''}</small>
</html>
`
}

function headline(status: number): string {
  if (status === 404) return 'There is no val here'
  if (status === 413) return 'That is too much to send'
  if (status === 503) return 'Not now'
  if (status === 504) return 'The val took too long'
  return status >= 500 ? 'The val failed' : 'That did not work'
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character)
}
