interface Bar {
  readonly route: string
  readonly page: string
  readonly smallP50Ms: number
  readonly largeP50Ms: number
}

const rowHeight = 30
const labelWidth = 270
const barWidth = 520
const top = 60

/** Two bars per list, small above large, to be looked at rather than read. */
export function chart(bars: readonly Bar[]): string {
  const longestMs = Math.max(...bars.flatMap(({ smallP50Ms, largeP50Ms }) => [smallP50Ms, largeP50Ms]))
  const height = top + bars.length * rowHeight + 20
  const width = labelWidth + barWidth + 90
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="white"/>
<text x="10" y="22" font-size="15" font-weight="bold">Median time of a page of 20, in milliseconds</text>
<rect x="10" y="34" width="12" height="10" fill="#9db8d9"/><text x="28" y="43">small: 5,000 vals, 50,000 runs</text>
<rect x="230" y="34" width="12" height="10" fill="#28518c"/><text x="248" y="43">large: 1,000,000 vals, 10,000,000 runs</text>
${bars.map((bar, i) => barPair(bar, top + i * rowHeight, barWidth / longestMs)).join('\n')}
</svg>
`
}

function barPair({ route, page, smallP50Ms, largeP50Ms }: Bar, y: number, pixelsPerMs: number): string {
  return [
    `<text x="${labelWidth - 8}" y="${y + 17}" text-anchor="end">${route}, ${page}</text>`,
    oneBar(smallP50Ms, '#9db8d9', { y: y + 2, pixelsPerMs }),
    oneBar(largeP50Ms, '#28518c', { y: y + 13, pixelsPerMs }),
  ].join('\n')
}

function oneBar(ms: number, color: string, { y, pixelsPerMs }: { y: number; pixelsPerMs: number }): string {
  const width = Math.max(1, ms * pixelsPerMs)
  return `<rect x="${labelWidth}" y="${y}" width="${width.toFixed(1)}" height="10" fill="${color}"/>
<text x="${(labelWidth + width + 6).toFixed(1)}" y="${y + 9}" font-size="10">${ms}</text>`
}
