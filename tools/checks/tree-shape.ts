import type { RepositoryFile } from './read-repository.ts'

const codeLinesMax = 250

/** Kinds of class, where a folder should be named after a thing of the domain. */
const emptyWords = ['utils', 'helpers', 'common', 'shared', 'lib', 'types', 'controllers', 'services']

/** PostgreSQL and NATS are services, and starting them is what that folder does. */
const meaningful = ['tools/services/']

export function findShapeFaults(files: readonly RepositoryFile[]): string[] {
  return [...findEmptyFolderNames(files), ...findLongFiles(files)]
}

function findEmptyFolderNames(files: readonly RepositoryFile[]): string[] {
  const folders = new Set(files.map(({ path }) => path.slice(0, path.lastIndexOf('/') + 1)))
  const judged = [...folders].filter((folder) => !meaningful.some((allowed) => folder.startsWith(allowed)))
  return judged.flatMap((folder) =>
    emptyWords
      .filter((word) => folder.split('/').includes(word))
      .map((word) => `${folder} "${word}" says nothing about what is inside`),
  )
}

function findLongFiles(files: readonly RepositoryFile[]): string[] {
  return files
    .filter(({ path }) => /\.(ts|js|mjs|sql|sh|css)$/.test(path) && !path.endsWith('.test.ts'))
    .map(({ path, text }) => ({ path, lines: countCodeLines(text) }))
    .filter(({ lines }) => lines > codeLinesMax)
    .map(({ path, lines }) => `${path} has ${lines} lines of code, more than ${codeLinesMax}`)
}

function countCodeLines(text: string): number {
  return text.split('\n').filter((line) => !/^\s*($|\/\/|\/?\*|--|#)/.test(line)).length
}
