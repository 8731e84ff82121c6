import pg from 'pg'

/** One connection of the benchmark's own, closed with its scope. */
export async function openClient(url: string) {
  const client = new pg.Client(url)
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
}
