/** The part of Deno's own API that the bootstrap uses; our type check knows Node only. */
export interface DenoApi {
  readonly args: readonly string[]
  connect(options: { transport: 'unix'; path: string }): Promise<DenoConnection>
  serve(options: ServeOptions, handler: ServeHandler): unknown
  exit(this: void, code: number): never
  inspect(this: void, value: unknown, options: object): string
  readTextFile(path: string): Promise<string>
  readonly env: { set(name: string, value: string): void; toObject(): Record<string, string> }
  readonly permissions: { revoke(permission: { name: string; path: string }): Promise<unknown> }
}

export interface DenoConnection {
  read(into: Uint8Array): Promise<number | null>
  write(bytes: Uint8Array): Promise<number>
}

interface ServeOptions {
  path: string
  onListen(): void
}

export type ServeHandler = (request: Request, info: object) => Response | Promise<Response>
