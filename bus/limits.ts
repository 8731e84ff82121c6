export const limits = {
  connectTimeoutMs: 2_000,
  reconnectWaitMs: 250,
  reconnectJitterMs: 250,
  /** A server that was cut off from us is found out within three of these. */
  pingIntervalMs: 2_000,
  pingsLostMax: 2,
  /** How long an answer to a save may wait for NATS to have passed the hint on; twice, if it comes during another's wait. */
  hintTakenMsMax: 100,
  /** Requests, and publishes to a stream, that wait for their answer; the next one is refused at once. */
  requestsUnderWayMax: 10_000,
  publishesUnderWayMax: 256,
  publishTimeoutMs: 5_000,
  /** What a NATS that was not set up otherwise takes; counts until it has said what it takes. */
  payloadBytesAssumed: 1024 * 1024,
  /** What was told but not yet taken by NATS; more than this is dropped. */
  toldBytesMax: 8 * 1024 * 1024,
  /** Requests that a server answers at once; the next asker hears at once that there is no answer. */
  servedAtOnceMax: 256,
  /** How long answers under way may take when the bus is closed. */
  closeTimeoutMs: 2_000,
  /** Claims that a beat calls abandoned; each is told for some minutes, and there is no more than one a second. */
  claimsAbandonedMax: 5_000,
  manageTimeoutMs: 2_000,
  manageAgainMs: 1_000,
  /** How long a repeated publish of the same message counts once. */
  duplicatesKnownMs: 5 * 60_000,
  /** Messages of a consumer that are in memory of one process, taken and waiting; each may have max_payload bytes. */
  messagesAtOnceMax: 16,
  /** Messages of a consumer that all processes together may have in hand. */
  messagesInHandMax: 256,
  /** A message in the hand of a process that has said nothing for this long is given to another one. */
  handTimeMs: 5_000,
  consumeAgainMs: 500,
  pullExpiresMs: 10_000,
  /** After two of these without a sign of life a consumer asks again: another server of the cluster may have it. */
  pullHeartbeatMs: 1_000,
  watchedAtOnceMax: 32,
} as const
