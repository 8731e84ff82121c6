/*
 * The program that posts an alert: a val of ours, in a sandbox of its own, so that it reaches what vals reach and
 * nothing else. It is told where to and what, and says what came of it. Nothing follows from the answer but its status,
 * and nobody is followed elsewhere.
 */
interface Errand {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly timeoutMs: number
}

// oxlint-disable-next-line import/no-default-export -- it is loaded as a val, whose default export answers requests.
export default async function run(request: Request): Promise<Response> {
  const { url, headers, body, timeoutMs } = (await request.json()) as Errand
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    const answer = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal })
    await answer.body?.cancel()
    return Response.json({ kind: 'answered', status: answer.status })
  } catch (thrown) {
    return Response.json({ kind: 'failed', message: explain(thrown) })
  }
}

function explain(thrown: unknown): string {
  if (!(thrown instanceof Error)) return 'It could not be sent.'
  if (thrown.name === 'TimeoutError') return 'It timed out.'
  const why = [thrown, thrown.cause].map((each) => (each instanceof Error ? each.message : '')).join(' ')
  if (/refused|unreachable|denied|NotCapable|Requires net/i.test(why)) {
    return 'The connection was refused: nobody listens there, or the address is not on the public internet.'
  }
  if (/dns|lookup|resolve/i.test(why)) return 'There is no address for that name.'
  return `It could not be sent: ${thrown.message}`
}
