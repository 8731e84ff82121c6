import { readdirSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import path from 'node:path'
import { ownImport, type ProgramModule } from './bootstrap/isolate-program.ts'
import type { SandboxBootstrap } from './sandbox-options.ts'

const folder = path.join(import.meta.dirname, 'bootstrap')

/** The bootstrap as JavaScript: Deno would otherwise compile it again in every sandbox. */
export function readBootstrap(): SandboxBootstrap {
  const names = readdirSync(folder).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  const files = Object.fromEntries(names.map((name) => [toJs(name), compile(name)]))
  return {
    files: { ...files, 'isolate.json': JSON.stringify(collect('isolate.js', files)) },
    entry: 'main.js',
  }
}

/** A module after all that it imports, each once. */
function collect(
  name: string,
  files: Readonly<Record<string, string>>,
  collected: ProgramModule[] = [],
): readonly ProgramModule[] {
  if (collected.some((module) => module.name === name)) return collected
  const source = files[name] ?? ''
  for (const [, imported = ''] of source.matchAll(ownImport)) collect(imported, files, collected)
  collected.push({ name, source })
  return collected
}

function compile(name: string): string {
  const source = stripTypeScriptTypes(readFileSync(path.join(folder, name), 'utf8'))
  return source.replaceAll(/(from '\.\/[a-z-]+)\.ts'/g, "$1.js'")
}

function toJs(name: string): string {
  return name.replace(/\.ts$/, '.js')
}
