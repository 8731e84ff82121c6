import { readdirSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import path from 'node:path'
import type { SandboxBootstrap } from './sandbox-options.ts'

const folder = path.join(import.meta.dirname, 'bootstrap')

/** The bootstrap as JavaScript: Deno would otherwise compile it again in every sandbox. */
export function readBootstrap(): SandboxBootstrap {
  const names = readdirSync(folder).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  const files = names.map((name) => [toJs(name), compile(path.join(folder, name))] as const)
  return { files: { ...Object.fromEntries(files), 'isolate.url': dataUrl('isolate.ts') }, entry: 'main.js' }
}

/** A module with all that it imports as one address: by the time it is loaded, no file of ours may be read any more. */
function dataUrl(name: string): string {
  const source = stripTypeScriptTypes(readFileSync(path.join(folder, name), 'utf8'))
  const whole = source.replaceAll(
    /from '\.\/([a-z-]+\.ts)'/g,
    (_, imported: string) => `from '${dataUrl(imported)}'`,
  )
  return `data:text/javascript;base64,${Buffer.from(whole).toString('base64')}`
}

function compile(file: string): string {
  const source = stripTypeScriptTypes(readFileSync(file, 'utf8'))
  return source.replaceAll(/(from '\.\/[a-z-]+)\.ts'/g, "$1.js'")
}

function toJs(name: string): string {
  return name.replace(/\.ts$/, '.js')
}
