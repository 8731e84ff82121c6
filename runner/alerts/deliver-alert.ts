import { readFileSync } from 'node:fs'
import path from 'node:path'
import { z } from 'zod'
import type { Head, ReplyBody, RequestBody } from '@valley/bus/requests.ts'
import { limits } from '../limits.ts'
import { OpenRun } from '../reports/open-run.ts'
import type { Worker } from '../workers/worker.ts'
import type { Workforce } from '../workers/workforce.ts'

type Alert = RequestBody<'deliverAlert'>
type Delivered = ReplyBody<'deliverAlert'>

const courier = readFileSync(path.join(import.meta.dirname, 'courier.ts'), 'utf8')

/** The sandbox is believed no more than any other. */
const Told = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('answered'), status: z.number().int().min(100).max(999) }),
  z.object({ kind: z.literal('failed'), message: z.string() }),
])

/**
 * Makes the function that posts alerts, each from inside a sandbox of its owner's that is used for nothing else and goes
 * right afterwards. Such runs are nobody's: they are not reported.
 */
export function createDeliverAlert(workforce: Workforce) {
  let underWay = 0
  return async (alert: Alert): Promise<Delivered> => {
    if (underWay >= limits.deliveriesAtOnceMax) return { kind: 'unavailable' }
    underWay += 1
    try {
      return await deliver(workforce, alert)
    } finally {
      underWay -= 1
    }
  }
}

async function deliver(workforce: Workforce, alert: Alert): Promise<Delivered> {
  const latestMs = performance.now() + limits.deliveryWaitMsMax
  const head = headOf(alert)
  const run = new OpenRun(head, { request: { method: 'POST', path: '/' } }, () => {})
  const placement = await workforce.place(head, run)
  if (placement.kind === 'refused') return { kind: 'unavailable' }
  const { worker } = placement
  try {
    // Whoever asked would not wait for the end of it, and would ask another one to send it again.
    if (performance.now() > latestMs) return { kind: 'unavailable' }
    return await ask(worker, run.id, alert)
  } catch (error) {
    const isLate = error instanceof Error && error.name === 'TimeoutError'
    return { kind: 'failed', message: isLate ? 'It timed out.' : 'Its sandbox ended before it was sent.' }
  } finally {
    run.end({ kind: 'answered' })
    workforce.release(worker, run, () => {})
    worker.drain('unused')
  }
}

async function ask(worker: Worker, runId: string, { url, headers, body }: Alert): Promise<Delivered> {
  const errand = { url, headers, body, timeoutMs: limits.deliveryTimeoutMs }
  const answer = await worker.pool.request({
    path: '/',
    method: 'POST',
    headers: { host: 'courier', 'content-type': 'application/json', 'valley-run': runId },
    body: JSON.stringify(errand),
    signal: AbortSignal.timeout(limits.deliveryTimeoutMs + limits.deliveryGraceMs),
  })
  const told = Told.parse(JSON.parse(await readSome(answer.body)))
  if (told.kind === 'answered') return told
  return { kind: 'failed', message: told.message.slice(0, limits.deliveryMessageCharsMax) }
}

/** Leaving the loop destroys the rest. */
async function readSome(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > limits.deliveryReplyBytesMax) break
  }
  return Buffer.concat(chunks).toString()
}

function headOf({ alertsId, ownerId }: Alert): Head {
  return {
    valId: alertsId,
    ownerId,
    username: 'valley',
    name: 'courier',
    privacy: 'private',
    type: 'http',
    version: 1,
    code: courier,
    environmentRevision: '',
    environment: {},
    isOverQuota: false,
  }
}
