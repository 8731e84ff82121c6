import type { Scope } from '@valley/contract/scopes.ts'

/** Who makes a request, as its token says. */
export interface Caller {
  readonly id: string
  readonly username: string
  readonly tokenId: string
  /** null: every scope. */
  readonly scopes: readonly Scope[] | null
  /** When the token ends; null: never. */
  readonly expiresAt: Date | null
}

export function hasScope({ scopes }: Caller, scope: Scope): boolean {
  return scopes === null || scopes.includes(scope)
}
