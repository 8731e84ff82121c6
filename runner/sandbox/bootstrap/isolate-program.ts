export interface ProgramModule {
  readonly name: string
  readonly source: string
}

export interface PublishedProgram {
  /** Of the module where it begins. */
  readonly address: string
  withdraw(): void
}

export const ownImport = /from '\.\/([a-z-]+\.js)'/g

/**
 * Gives the modules of a program addresses in memory: by the time they are loaded, no file of ours may be read any
 * more. Each comes after those that it imports, so that their addresses are known, and the last is the beginning.
 */
export function publishProgram(modules: readonly ProgramModule[]): PublishedProgram {
  const addresses = new Map<string, string>()
  let address = ''
  for (const { name, source } of modules) {
    const whole = source.replaceAll(ownImport, (_, imported: string) => `from '${addresses.get(imported)}'`)
    address = URL.createObjectURL(new Blob([whole], { type: 'text/javascript' }))
    addresses.set(name, address)
  }
  return { address, withdraw: () => addresses.forEach((each) => URL.revokeObjectURL(each)) }
}
