export interface DenoPlaces {
  readonly socketFolder: string
  readonly valFolder: string
  readonly appFolder: string
  readonly temporaryFolder: string
}

export interface DenoSettings {
  readonly places: DenoPlaces
  readonly entry: string
  readonly heapMib: number
  readonly netDenied: readonly string[]
}

/**
 * Deno's own permissions, the innermost layer. It never asks, runs nothing, loads no native code and is told
 * nothing about the machine. The bootstrap gives up the socket folder and its own once it is connected.
 */
export function denoArguments({ places, entry, heapMib, netDenied }: DenoSettings): string[] {
  const { socketFolder, valFolder, appFolder, temporaryFolder } = places
  return [
    'run',
    '--no-prompt',
    '--quiet',
    '--no-config',
    '--no-lock',
    '--no-check',
    '--no-code-cache',
    // A request's signal aborts when its client left, and not also when it was answered.
    '--unstable-no-legacy-abort',
    '--node-modules-dir=none',
    `--allow-read=${[socketFolder, valFolder, appFolder, temporaryFolder].join(',')}`,
    `--allow-write=${[socketFolder, temporaryFolder].join(',')}`,
    '--allow-env',
    '--allow-net',
    ...(netDenied.length > 0 ? [`--deny-net=${netDenied.join(',')}`] : []),
    `--v8-flags=--max-old-space-size=${heapMib}`,
    `${appFolder}/${entry}`,
    // What the bootstrap is told: where its sockets are, and its own folder.
    socketFolder,
    appFolder,
  ]
}

/** All of the environment that Deno itself is started with; a val's own variables come later, through the bootstrap. */
export function denoEnvironment(temporaryFolder: string): Record<string, string> {
  return {
    HOME: temporaryFolder,
    TMPDIR: temporaryFolder,
    DENO_DIR: `${temporaryFolder}/deno`,
    DENO_NO_PROMPT: '1',
    DENO_NO_UPDATE_CHECK: '1',
    // Besides Mozilla's authorities those that this host trusts, such as a company's own.
    DENO_TLS_CA_STORE: 'mozilla,system',
    NO_COLOR: '1',
  }
}
