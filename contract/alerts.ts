import { z } from 'zod'
import { limits } from './limits.ts'
import type { Operations } from './operation.ts'
import { Timestamp } from './scalars.ts'
import { ValId } from './vals.ts'

/** The address of a webhook. Where it leads is judged when it is set, and again by the network at each delivery. */
const WebhookUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https address' })
  .max(limits.urlCharsMax)
  .refine((url) => url.isWellFormed() && !url.includes('\0'), 'must be well-formed')
  .refine(
    (url) => !hasCredentials(url),
    'must not contain a username or password: the signature says who it is from',
  )
  .meta({ examples: ['https://hooks.example.com/valley'] })

function hasCredentials(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { username, password } = new URL(url)
  return username !== '' || password !== ''
}

const QuietSeconds = z.int().min(limits.quietSecondsMin).max(limits.quietSecondsMax)

export const Alerts = z
  .object({
    url: z.string(),
    quietSeconds: QuietSeconds.describe('After an alert, how long there is no other.'),
    lastAlertAt: Timestamp.nullable(),
    lastDelivery: z
      .object({
        at: Timestamp,
        ok: z.boolean(),
        status: z.int().nullable().describe('What the webhook answered; null when it did not.'),
        message: z.string().nullable().describe('What went wrong.'),
      })
      .nullable()
      .describe('The last attempt to bring an alert to the webhook.'),
  })
  .meta({ id: 'Alerts' })
export type Alerts = z.infer<typeof Alerts>

export const SetAlerts = Alerts.extend({
  secret: z
    .string()
    .optional()
    .describe('What deliveries are signed with. It is shown when it was just made, and never again.'),
}).meta({ id: 'SetAlerts' })
export type SetAlerts = z.infer<typeof SetAlerts>

export const alerts = {
  getAlerts: {
    method: 'GET',
    path: '/v1/vals/{val_id}/alerts',
    tag: 'Alerts',
    summary: 'Get where failing runs of a val of yours are told, and how the last alert fared',
    auth: 'required',
    scope: 'val:read',
    params: ValId,
    response: { 200: Alerts },
    errors: ['not_found'],
  },
  setAlerts: {
    method: 'PUT',
    path: '/v1/vals/{val_id}/alerts',
    tag: 'Alerts',
    summary: 'Name a webhook that is told when a run of a val of yours fails',
    description:
      'A POST of JSON for a run that failed or timed out, then none for quietSeconds. Of a run that is tried again, only the last attempt counts. It is signed as Standard Webhooks says (webhook-id, webhook-timestamp, webhook-signature), with a secret that this answer shows when it makes one: the first time, and with rotateSecret. Any 2xx takes it; anything else, also a redirect, is tried again, five times in all. It may come twice: webhook-id tells. Only the public internet is reached. Another url than before ends the quiet.',
    auth: 'required',
    scope: 'val:write',
    params: ValId,
    body: z.object({
      url: WebhookUrl,
      quietSeconds: QuietSeconds.default(limits.quietSecondsDefault),
      rotateSecret: z.boolean().default(false).describe('Makes a new secret in place of the one before.'),
    }),
    response: { 200: SetAlerts },
    errors: ['not_found'],
    exampleBody: { url: 'https://hooks.example.com/valley', quietSeconds: 3_600 },
  },
  deleteAlerts: {
    method: 'DELETE',
    path: '/v1/vals/{val_id}/alerts',
    tag: 'Alerts',
    summary: 'Tell nobody any more of failing runs of a val of yours; again is fine',
    auth: 'required',
    scope: 'val:write',
    params: ValId,
    response: { 204: null },
    errors: ['not_found'],
  },
} as const satisfies Operations
