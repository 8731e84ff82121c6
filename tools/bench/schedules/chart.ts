import type { Bin } from '../../schedules/lag-histogram.ts'

const width = 760
const left = 60
const top = 70
const plotHeight = 240

interface Lags {
  readonly bins: readonly Bin[]
  readonly title: string
  readonly summary: string
}

/** A bar for each quarter of a second, to be looked at rather than read. */
export function chartLags({ bins, title, summary }: Lags): string {
  const most = Math.max(...bins.map(({ count }) => count))
  const barWidth = (width - left - 20) / bins.length
  const bottom = top + plotHeight
  const labelEvery = Math.ceil(bins.length / 12)
  const bars = bins.map(({ fromMs, count }, i) => {
    const [x, height] = [left + i * barWidth, (count / most) * plotHeight]
    const label =
      i % labelEvery === 0
        ? `<text x="${x.toFixed(1)}" y="${bottom + 18}" text-anchor="middle">${fromMs / 1_000}</text>`
        : ''
    return `<rect x="${(x + 1).toFixed(1)}" y="${(bottom - height).toFixed(1)}" width="${(barWidth - 2).toFixed(1)}" height="${height.toFixed(1)}" fill="#28518c"/>${label}`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${bottom + 50}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="white"/>
<text x="10" y="22" font-size="15" font-weight="bold">${title}</text>
<text x="10" y="44">${summary}</text>
<text x="${left - 8}" y="${top + 10}" text-anchor="end">${most}</text>
<text x="${left - 8}" y="${bottom}" text-anchor="end">0</text>
<line x1="${left}" y1="${bottom}" x2="${width - 20}" y2="${bottom}" stroke="#888"/>
${bars.join('\n')}
<text x="${left}" y="${bottom + 38}">seconds from the planned time until the run was enqueued</text>
</svg>
`
}
