import { median, quantile, round } from '../report.ts'

const samples = 120
const warmUp = 15
const deepPagesMax = 400
const deepPagesMeasured = 40

export interface Target {
  readonly url: string
  readonly token: string
}

/** The list's path in the small service and in the large one. */
type Paths = readonly [small: string, large: string]

export interface Compared {
  readonly smallP50Ms: number
  readonly largeP50Ms: number
  readonly smallP99Ms: number
  readonly largeP99Ms: number
  readonly ratio: number
}

/** The same list, small and large, asked in turns so that what else the machine does falls on both. */
export async function compareFirstPage(small: Target, large: Target, paths: Paths): Promise<Compared> {
  const [smallPath, largePath] = paths
  return compareUrls(
    { target: small, urls: [small.url + smallPath] },
    { target: large, urls: [large.url + largePath] },
  )
}

/** Follows links.next far down first, then compares pages there; null for a list that has only a few pages. */
export async function compareDeepPages(small: Target, large: Target, paths: Paths): Promise<Compared | null> {
  const smallUrls = await deepUrls(small, paths[0])
  const largeUrls = await deepUrls(large, paths[1])
  if (smallUrls.length < 2 || largeUrls.length < 2) return null
  return compareUrls({ target: small, urls: smallUrls }, { target: large, urls: largeUrls })
}

interface Asked {
  readonly target: Target
  readonly urls: readonly string[]
}

async function compareUrls(small: Asked, large: Asked): Promise<Compared> {
  const smallMs: number[] = []
  const largeMs: number[] = []
  for (let i = -warmUp; i < samples; i++) {
    const [smallTook, largeTook] = [await time(small, i + warmUp), await time(large, i + warmUp)]
    if (i >= 0) smallMs.push(smallTook)
    if (i >= 0) largeMs.push(largeTook)
  }
  return {
    smallP50Ms: round(median(smallMs)),
    largeP50Ms: round(median(largeMs)),
    smallP99Ms: round(quantile(smallMs, 0.99)),
    largeP99Ms: round(quantile(largeMs, 0.99)),
    ratio: round(median(largeMs) / median(smallMs)),
  }
}

async function time({ target, urls }: Asked, turn: number): Promise<number> {
  const startedAt = performance.now()
  await getPage(target, urls[turn % urls.length] ?? '')
  return performance.now() - startedAt
}

async function deepUrls(target: Target, path: string): Promise<readonly string[]> {
  const urls: string[] = []
  let url: string | undefined = target.url + path
  while (url !== undefined && urls.length < deepPagesMax) {
    urls.push(url)
    url = (await getPage(target, url)).links.next
  }
  return urls.slice(1).slice(-deepPagesMeasured)
}

async function getPage({ token }: Target, url: string) {
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`GET ${url} answered ${response.status}: ${text}`)
  return JSON.parse(text) as { data: unknown[]; links: { next?: string } }
}
