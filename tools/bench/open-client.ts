import pg from 'pg'

/** One connection of the benchmark's own, closed with its scope. `options` are settings of the session. */
export async function openClient(url: string, options = '') {
  const client = new pg.Client({ connectionString: url, options })
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
}
