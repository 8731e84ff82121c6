import { z } from 'zod'
import type { Operations } from './operation.ts'

const Readiness = z
  .object({
    ready: z.literal(true),
    database: z.literal('up'),
    bus: z.enum(['up', 'down']).describe('Reported, but the service is ready without it.'),
  })
  .meta({ id: 'Readiness' })

const platformOperation = { method: 'GET', tag: 'Platform', auth: 'none', scope: null } as const

/** What operators and tools ask the service itself. */
export const platform = {
  getHealth: {
    ...platformOperation,
    path: '/healthz',
    summary: 'Whether the process is alive',
    response: { 200: z.object({ ok: z.literal(true) }) },
  },
  getReadiness: {
    ...platformOperation,
    path: '/readyz',
    summary: 'Whether requests can be answered: 503 without the database',
    response: { 200: Readiness },
  },
  getMetrics: {
    ...platformOperation,
    path: '/metrics',
    summary: 'Metrics in the text format of Prometheus',
    response: { 200: z.string() },
    media: 'text/plain',
  },
  getOpenapi: {
    ...platformOperation,
    path: '/openapi.json',
    summary: 'This document',
    response: { 200: z.looseObject({ openapi: z.string() }) },
  },
  getDocs: {
    ...platformOperation,
    path: '/docs',
    summary: 'This document, for people',
    response: { 200: z.string() },
    media: 'text/html',
  },
} as const satisfies Operations
