import { findUndecidedDependencies } from './checks/dependency-decisions.ts'
import { findForbiddenText } from './checks/forbidden-text.ts'
import { readRepository } from './checks/read-repository.ts'
import { findShapeFaults } from './checks/tree-shape.ts'
import { runMain } from './processes/run-main.ts'
import { repositoryFolder } from './repository.ts'

/** What no linter knows: rules about the repository as a whole. */
async function main(): Promise<number> {
  const files = await readRepository(repositoryFolder)
  const faults = [findForbiddenText, findUndecidedDependencies, findShapeFaults].flatMap((find) =>
    find(files),
  )
  for (const fault of faults) console.error(fault)
  console.log(`${files.length} files, ${faults.length} faults.`)
  return faults.length === 0 ? 0 : 1
}

await runMain(main)
