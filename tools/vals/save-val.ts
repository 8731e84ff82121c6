import type { World } from '../world/open-world.ts'

/** Saves an http val of alice's by its name. Returns once the API has answered. */
export async function saveVal({ url, tokens }: World, name: string, code: string): Promise<void> {
  const response = await fetch(`${url}/v1/vals`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${tokens.alice}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name, code, type: 'http' }),
  })
  if (!response.ok) throw new Error(`Saving ${name} answered ${response.status}: ${await response.text()}`)
  await response.body?.cancel()
}
