import { existsSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { SandboxError } from './sandbox-error.ts'

/** Absolute path of the Deno that runs vals: the real binary, never npm's JavaScript wrapper around it. */
export function findDenoBinary(): string {
  const fromHere = createRequire(import.meta.url)
  const manifest = fromHere.resolve('deno/package.json')
  const folders = [platformFolderOrNull(createRequire(manifest)), dirname(manifest)]
  for (const folder of folders) {
    if (folder !== null && existsSync(join(folder, 'deno'))) return realpathSync(join(folder, 'deno'))
  }
  throw new SandboxError(
    `The npm package deno has no binary for ${process.platform}-${process.arch}; run npm install on this machine.`,
  )
}

/** The binary itself is in a package of its own for each platform; npm may have put it beside deno or inside it. */
function platformFolderOrNull(fromDeno: NodeJS.Require): string | null {
  const target = `${process.platform}-${process.arch}${process.platform === 'linux' ? '-glibc' : ''}`
  try {
    return dirname(fromDeno.resolve(`@deno/${target}/package.json`))
  } catch {
    return null
  }
}
