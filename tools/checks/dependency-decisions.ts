import type { RepositoryFile } from './read-repository.ts'

interface Manifest {
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
}

/** A dependency stays only as long as docs/decisions says why we have it. */
export function findUndecidedDependencies(files: readonly RepositoryFile[]): string[] {
  const decisions = files.filter(({ path }) => path.startsWith('docs/decisions/')).map(({ text }) => text)
  const manifests = files.filter(({ path }) => /^([\w-]+\/)?package\.json$/.test(path))
  return manifests.flatMap(({ path, text }) =>
    namesIn(JSON.parse(text) as Manifest)
      .filter((name) => !decisions.some((decision) => decision.includes(`\`${name}\``)))
      .map((name) => `${path} depends on ${name}, and no file in docs/decisions says why (\`${name}\`)`),
  )
}

function namesIn({ dependencies, devDependencies }: Manifest): string[] {
  const names = Object.keys({ ...dependencies, ...devDependencies })
  return names.filter((name) => !name.startsWith('@valley/'))
}
