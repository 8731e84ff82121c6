import { readFileSync } from 'node:fs'

const begin = '<!-- walk-through'
const end = '<!-- end of the walk-through -->'

/** The shell blocks of the README's walk-through, in their order. */
export function readWalkThrough(readme: string): readonly string[] {
  const text = readFileSync(readme, 'utf8')
  const part = text.slice(text.indexOf(begin), text.indexOf(end))
  return [...part.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, commands = '']) => commands)
}

/** One script of all blocks, so that what one sets the next one has; a line between them tells them apart. */
export function scriptOf(blocks: readonly string[], separator: string): string {
  return ['set -euo pipefail', ...blocks.flatMap((block) => [block, `echo; echo '${separator}'`])].join('\n')
}
