import { readFileSync, writeFileSync } from 'node:fs'
import { openapi } from './openapi.ts'

const file = new URL('openapi.json', import.meta.url)
const fresh = `${JSON.stringify(openapi(), null, 2)}\n`

if (!process.argv.includes('--check')) {
  writeFileSync(file, fresh)
} else if (readFileSync(file, 'utf8') !== fresh) {
  process.stderr.write('contract/openapi.json is stale: run `npm run fix` and commit it.\n')
  process.exitCode = 1
}
