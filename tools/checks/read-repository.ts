import { glob, readFile } from 'node:fs/promises'
import path from 'node:path'

export interface RepositoryFile {
  /** From the root of the repository, with forward slashes. */
  path: string
  text: string
}

const textFileBytesMax = 4 * 1024 * 1024

/** Every text file that git would track, without needing git: it is missing where only a copy was unpacked. */
export async function readRepository(root: string): Promise<RepositoryFile[]> {
  const ignored = await readIgnoredPatterns(root)
  const exclude = ({ name, parentPath }: { name: string; parentPath: string }) =>
    ignored.some((pattern) => path.matchesGlob(path.relative(root, path.join(parentPath, name)), pattern))
  const entries = await Array.fromAsync(glob('**/{*,.*}', { cwd: root, withFileTypes: true, exclude }))
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
  const files = await Promise.all(
    paths.map(async (file) => ({ path: path.relative(root, file), text: await readText(file) })),
  )
  return files.filter(({ text }) => text !== '')
}

async function readIgnoredPatterns(root: string): Promise<string[]> {
  const lines = (await readFile(path.join(root, '.gitignore'), 'utf8')).split('\n')
  const names = lines.map((line) => line.trim().replace(/^\/|\/$/g, '')).filter((line) => line !== '')
  return ['.git', ...names].flatMap((name) => [name, `**/${name}`])
}

async function readText(file: string): Promise<string> {
  const bytes = await readFile(file)
  return bytes.length > textFileBytesMax || bytes.includes(0) ? '' : bytes.toString('utf8')
}
