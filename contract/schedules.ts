import { z } from 'zod'
import { limits } from './limits.ts'
import type { Operations } from './operation.ts'
import { text, Timestamp } from './scalars.ts'
import { ValId } from './vals.ts'

const cron = text({ min: 1, max: limits.cronCharsMax }).meta({ examples: ['0 9 * * 1-5'] })
const timeZone = text({ min: 1, max: limits.timeZoneCharsMax }).meta({ examples: ['Europe/Berlin'] })
const overlap = z
  .enum(['skip', 'queue'])
  .describe(
    'What happens while a run that the schedule made before is not over: none, or one more that waits.',
  )
const missed = z
  .enum(['skip', 'once'])
  .describe(
    'What happens after planned times were missed by more than a minute: nothing, or one run for the latest.',
  )
const enabled = z.boolean().describe('false: nothing is planned until it is true again.')

export const Schedule = z
  .object({
    cron,
    timeZone,
    overlap,
    missed,
    enabled,
    nextRunAt: Timestamp.nullable().describe('The planned time that is next; null when it is disabled.'),
    lastRunAt: Timestamp.nullable().describe('When it made its last run.'),
    lastMissedAt: Timestamp.nullable().describe('The last planned time that was missed.'),
  })
  .meta({ id: 'Schedule' })
export type Schedule = z.infer<typeof Schedule>

const NewSchedule = z.object({
  cron,
  timeZone: timeZone.default('UTC'),
  overlap: overlap.default('skip'),
  missed: missed.default('skip'),
  enabled: enabled.default(true),
})
export type NewSchedule = z.infer<typeof NewSchedule>

export const schedules = {
  getSchedule: {
    method: 'GET',
    path: '/v1/vals/{val_id}/schedule',
    tag: 'Schedules',
    summary: 'Get the schedule of a val of yours',
    auth: 'required',
    scope: 'val:read',
    params: ValId,
    response: { 200: Schedule },
    errors: ['not_found'],
  },
  setSchedule: {
    method: 'PUT',
    path: '/v1/vals/{val_id}/schedule',
    tag: 'Schedules',
    summary: 'Run a val of yours by a schedule; the same again changes nothing',
    description:
      'cron has five fields (minute, hour, day, month, weekday), six with seconds first, or is one of @hourly, @daily, ' +
      '@weekly, @monthly and @yearly. The val gets one argument, { plannedAt, lastRunAt }. Where the clock of the time ' +
      'zone is changed: an hour written with * or a step fires whenever the clock shows it; any other hour fires once ' +
      'a day, the first time if the clock shows it twice, and right after the change if it is left out.',
    auth: 'required',
    scope: 'val:write',
    params: ValId,
    body: NewSchedule,
    response: { 200: Schedule },
    errors: ['not_found'],
    exampleBody: { cron: '0 9 * * 1-5', timeZone: 'Europe/Berlin' },
  },
  deleteSchedule: {
    method: 'DELETE',
    path: '/v1/vals/{val_id}/schedule',
    tag: 'Schedules',
    summary: 'Delete the schedule of a val of yours; again is fine',
    auth: 'required',
    scope: 'val:write',
    params: ValId,
    response: { 204: null },
    errors: ['not_found'],
  },
} as const satisfies Operations
