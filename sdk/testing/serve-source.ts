import { readFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { listenOnLoopback } from './listen-on-loopback.ts'

const sdkFolder = new URL('..', import.meta.url)

/** An empty page, and beside it the sdk's files as a browser takes them: with their types blanked out. */
export function serveSource() {
  return listenOnLoopback(async ({ url = '/' }, response) => {
    if (!url.endsWith('.ts')) return response.setHeader('content-type', 'text/html').end('<!doctype html>')
    const source = await readFile(new URL(`.${url}`, sdkFolder), 'utf8').catch(() => null)
    if (source === null) return response.writeHead(404).end()
    return response.setHeader('content-type', 'text/javascript').end(stripTypeScriptTypes(source))
  })
}
