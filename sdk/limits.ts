/** Every bound of the client. A setting of `createClient` may change the two defaults. */
export const limits = {
  /** For each attempt, the answer's body included. */
  timeoutMsDefault: 30_000,
  /** Timers hold no more than this; a longer timeout means this one. */
  timeoutMsMax: 2 ** 31 - 1,
  retriesDefault: 2,
  /** The first wait is drawn between 0 and this, each later one from twice as much. */
  backoffMsFirst: 500,
  backoffMsMax: 8_000,
  /** Added to Retry-After, so that everyone who was told the same moment does not come at once. */
  retryAfterJitterMs: 250,
  /** A server that asks for a longer pause gets its error passed on to the caller instead. */
  retryAfterMsMax: 60_000,
  /** How much of an answer that is not Valley's is quoted in the error. */
  excerptCharsMax: 500,
  /** A server that has something to say at least every 15 seconds and is silent for this long is gone. */
  silenceMsMax: 45_000,
  /** How often in a row a lost connection to events is made again before the error is passed on. */
  eventRetriesMax: 20,
  /** How long after events that ended in good order they are asked for again. */
  eventsAgainMs: 1_000,
  eventCharsMax: 4 * 1024 * 1024,
} as const
