import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { findDenoBinary } from '@valley/runner/sandbox/deno-binary.ts'
import { type BenchProgram, startProgram } from '../start-program.ts'

/** `deno run` of a val's own handler behind Deno.serve: no isolation, no record, nothing in front. */
export async function startBareDeno(folder: string, code: string): Promise<BenchProgram> {
  await writeFile(path.join(folder, 'bare-val.ts'), code)
  await writeFile(path.join(folder, 'bare-main.ts'), serveIt)
  const flags = ['--no-prompt', '--no-config', '--no-lock', '--allow-net', `--allow-read=${folder}`]
  return startProgram({
    command: findDenoBinary(),
    args: ['run', ...flags, path.join(folder, 'bare-main.ts')],
  })
}

const serveIt = `import handler from './bare-val.ts'
Deno.serve({ hostname: '127.0.0.1', port: 0, onListen: ({ port }) => console.log(port) }, handler)
`
