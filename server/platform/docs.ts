import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

const contentTypes = {
  'swagger-ui.css': 'text/css',
  'swagger-ui-bundle.js': 'text/javascript',
  'start.js': 'text/javascript',
} as const

export type DocsFiles = ReadonlyMap<string, { readonly type: string; readonly text: string }>

/** Swagger UI from our own origin: /docs works without the internet and tells nobody that it was opened. */
export function readDocsFiles(): DocsFiles {
  const start = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#docs', deepLinking: true, tryItOutEnabled: true,
    persistAuthorization: false, defaultModelsExpandDepth: 0, docExpansion: 'list' })`
  return new Map(
    Object.entries(contentTypes).map(([name, type]) => [
      name,
      {
        type,
        text: name === 'start.js' ? start : readFileSync(require.resolve(`swagger-ui-dist/${name}`), 'utf8'),
      },
    ]),
  )
}

export const docsPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Valley API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="docs"><noscript>This page needs JavaScript; /openapi.json has the same.</noscript></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`

/** An asset of /docs by its path. Who opens the bare address in a browser is led to the documents. */
export function docsFileOrNull(files: DocsFiles, path: string) {
  if (path === '/') return { status: 302, headers: { location: '/docs' }, body: '' }
  const file = files.get(path.replace(/^\/docs\//, ''))
  if (file === undefined || !path.startsWith('/docs/')) return null
  const headers = { 'content-type': `${file.type}; charset=utf-8`, 'cache-control': 'public, max-age=3600' }
  return { status: 200, headers, body: file.text }
}
