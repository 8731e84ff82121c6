import { setTimeout as sleep } from 'node:timers/promises'

const waitMs = 20
const waitMsMax = 60_000

/** The runner's /metrics, each figure by its name and labels as Prometheus writes them. */
export async function readMetrics(statusUrl: string): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${statusUrl}/metrics`)).text()
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(lines.map((line) => splitAtLastSpace(line)))
}

/** 0 where there is none yet. */
export async function readMetric(statusUrl: string, name: string): Promise<number> {
  return (await readMetrics(statusUrl)).get(name) ?? 0
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

function splitAtLastSpace(line: string): [string, number] {
  const at = line.lastIndexOf(' ')
  return [line.slice(0, at), Number(line.slice(at + 1))]
}
