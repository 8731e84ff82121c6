import { setTimeout as sleep } from 'node:timers/promises'

const waitMs = 20
const waitMsMax = 60_000

/** One figure of the runner's /metrics. */
export async function readMetric(statusUrl: string, name: string): Promise<number> {
  const text = await (await fetch(`${statusUrl}/metrics`)).text()
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `))
  return Number(line?.slice(name.length + 1) ?? Number.NaN)
}

export async function waitForMetric(
  statusUrl: string,
  name: string,
  isThere: (value: number) => boolean,
): Promise<void> {
  const deadline = performance.now() + waitMsMax
  while (!isThere(await readMetric(statusUrl, name))) {
    if (performance.now() > deadline) throw new Error(`${name} did not get there within ${waitMsMax} ms.`)
    await sleep(waitMs)
  }
}
