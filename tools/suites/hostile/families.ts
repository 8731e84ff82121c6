import type fc from 'fast-check'
import * as body from './body-families.ts'
import * as header from './header-families.ts'
import type { HostileRequest, Target } from './target.ts'
import * as url from './url-families.ts'

/** How many requests of each kind are made. */
export const families: readonly (readonly [
  count: number,
  make: (target: Target) => fc.Arbitrary<HostileRequest>,
])[] = [
  [900, body.brokenBodies],
  [1_400, body.wrongTypes],
  [1_400, body.hardTexts],
  [700, body.sqlInFields],
  [600, body.oversized],
  [60, body.manyMistakes],
  [700, body.encodings],
  [1_000, url.oddParams],
  [400, url.sqlInParams],
  [1_200, url.oddQueries],
  [700, url.sqlInQueries],
  [400, url.searches],
  [500, url.tamperedCursors],
  [700, url.oddPaths],
  [1_200, header.oddHeaders],
  [400, header.badTokens],
  [400, header.oddMethods],
]

export const rawCount = 500
