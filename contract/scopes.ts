import { z } from 'zod'

export const scopes = ['val:read', 'val:write', 'run:read', 'run:write', 'user:read', 'user:write'] as const
export const Scope = z.enum(scopes)
export type Scope = z.infer<typeof Scope>
