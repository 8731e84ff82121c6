/** One number of the runner's, by its name and labels as Prometheus writes them; 0 where there is none yet. */
export async function readMetric(statusPort: number, line: string): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${statusPort}/metrics`)
  const text = await answer.text()
  const found = text.split('\n').find((each) => each.startsWith(`${line} `))
  return found === undefined ? 0 : Number(found.slice(line.length + 1))
}
