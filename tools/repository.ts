import path from 'node:path'

export const repositoryFolder = path.resolve(import.meta.dirname, '..')

export const serverMain = path.join(repositoryFolder, 'server/main.ts')
export const runnerMain = path.join(repositoryFolder, 'runner/main.ts')
export const serverAdmin = path.join(repositoryFolder, 'server/admin.ts')
