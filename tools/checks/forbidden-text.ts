import type { RepositoryFile } from './read-repository.ts'

interface ForbiddenText {
  pattern: RegExp
  why: string
}

// Put together from parts, so that this file does not break the rules that it states.
const hosts = [
  ['registry', 'npmjs', 'org'],
  ['registry', 'yarnpkg', 'com'],
  ['deb', 'debian', 'org'],
  ['security', 'debian', 'org'],
  ['snapshot', 'debian', 'org'],
  ['deb', 'nodesource', 'com'],
].map((labels) => labels.join(String.raw`\.`))
const homes = ['work', 'root'].join('|')
const later = ['TO', 'DO'].join('')

const forbidden: readonly ForbiddenText[] = [
  {
    pattern: new RegExp(hosts.join('|')),
    why: 'names the host of a registry, which everyone sets for themselves',
  },
  { pattern: new RegExp(String.raw`(?<![\w.~-])/(${homes})(?![\w-])`), why: 'names a folder of one machine' },
  {
    pattern: new RegExp(String.raw`\b${later}\b`),
    why: 'puts work off in the source; open an issue instead',
  },
]

export function findForbiddenText(files: readonly RepositoryFile[]): string[] {
  return files.flatMap(({ path, text }) =>
    text
      .split('\n')
      .flatMap((line, index) =>
        forbidden.filter(({ pattern }) => pattern.test(line)).map(({ why }) => `${path}:${index + 1} ${why}`),
      ),
  )
}
