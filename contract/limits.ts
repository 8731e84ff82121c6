/** Every bound that a caller of the API can meet. Characters are counted as JavaScript does: UTF-16 code units. */
export const limits = {
  codeCharsMax: 256_000,
  readmeCharsMax: 65_536,
  commentCharsMax: 4_096,
  bioCharsMax: 1_024,
  urlCharsMax: 2_048,
  tokenNameCharsMax: 64,
  searchQueryCharsMax: 256,
  idempotencyKeyCharsMax: 255,
  idempotencyKeyHours: 24,
  cursorCharsMax: 200,
  pageItemsMax: 100,
  pageItemsDefault: 20,
  /** A page of vals ends early once their code is this long; links.next goes on from there. */
  pageCodeBytesMax: 1024 * 1024,
  /** Deeper than this, follow links.next: a cursor costs the same at any depth, an offset does not. */
  offsetMax: 1_000_000,
  /** Of one run; where it was cut, a last line says so. */
  logLinesMax: 1_000,
  logBytesMax: 256 * 1024,
  logLineCharsMax: 16_384,
  /** Of one run's arguments, as JSON in UTF-8. */
  argsMax: 32,
  argsBytesMax: 64 * 1024,
  /** Arrays and objects in each other, in arguments and in what is returned; deeper ones are kept as text there. */
  jsonLevelsMax: 100,
  /** Of what a run returned, as JSON; where it was cut, returnValueCut says so. */
  returnValueCharsMax: 64 * 1024,
  /** How long an answer may wait for a run to end. */
  waitSecondsMax: 60,
  retryAttemptsMax: 10,
  retryBackoffSecondsMax: 3_600,
  /** Of one variable's value, in UTF-8. */
  variableBytesMax: 32 * 1024,
  /** Of one user, and of one val; the bytes are those of all their values together, which travel with the val. */
  variablesMax: 100,
  variablesBytesMax: 64 * 1024,
  cronCharsMax: 200,
  timeZoneCharsMax: 64,
  /** Between two alerts of a val. */
  quietSecondsMin: 60,
  quietSecondsMax: 7 * 24 * 3_600,
  quietSecondsDefault: 3_600,
  versionMax: 2_147_483_647,
  bodyBytesMax: 4 * 1024 * 1024,
} as const
