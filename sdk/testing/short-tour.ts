import { type ClientOptions, createClient, isValleyError } from '../client.ts'

/** What a runtime must be able to do, in one walk; it runs unchanged in Node, Deno and browsers. */
export async function shortTour(options: ClientOptions) {
  const { vals, me } = createClient(options)
  const name = `tour${Math.random().toString(36).slice(2)}`
  const made = await vals.create({ name, code: 'export default 1', privacy: 'private' })
  const read = await vals.get(made.id)
  const saved = await vals.versions.create(made.id, { code: 'export default 2' }, { ifMatch: read })
  const versions: number[] = []
  for await (const { version } of vals.versions.list(made.id, { limit: 1 })) versions.push(version)
  return {
    username: (await me.get()).username,
    version: saved.version,
    versions,
    module: await vals.module(made.id, { version: 1 }),
    stale: await codeOf(vals.delete(made.id, { ifMatch: read })),
    deleted: await vals.delete(made.id, { ifMatch: saved }).then(() => 'deleted'),
    gone: await codeOf(vals.get(made.id)),
    aborted: await codeOf(vals.get(made.id, { signal: AbortSignal.abort() })),
  }
}

/** What the tour gives everywhere. */
export const tourOf = (username: string) => ({
  username,
  version: 2,
  versions: [2, 1],
  module: 'export default 1',
  stale: 'precondition_failed',
  deleted: 'deleted',
  gone: 'not_found',
  aborted: 'AbortError',
})

async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call
    return 'no error'
  } catch (error) {
    if (isValleyError(error)) return error.code
    return error instanceof Error ? error.name : String(error)
  }
}
