import { z } from 'zod'

/** Shapes of settings that several processes have. */
export const port = z.coerce.number().int().min(0).max(65_535)
export const flag = z.enum(['true', 'false']).transform((value) => value === 'true')
export const LogLevel = z.enum(['debug', 'info', 'warn', 'error', 'silent'])
export type LogLevel = z.infer<typeof LogLevel>
