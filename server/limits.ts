/** Every bound of the server that a caller does not meet in the contract. */
export const limits = {
  statementTimeoutMs: 5_000,
  lockTimeoutMs: 2_000,
  idleInTransactionTimeoutMs: 10_000,
  queryTimeoutMs: 7_000,
  connectTimeoutMs: 2_000,
  idleConnectionMs: 30_000,
  /** Requests that may wait for a connection; the next one is told to come back later. */
  poolWaitersMax: 500,
  retryAfterSeconds: 1,
  requestTimeoutMs: 30_000,
  headersTimeoutMs: 10_000,
  keepAliveTimeoutMs: 65_000,
  drainTimeoutMs: 10_000,
  connectionsMax: 10_000,
  requestIdCharsMax: 64,
  compressBytesMin: 1_024,
  readinessAgeMaxMs: 500,
  callersCachedMax: 10_000,
  /** How long a revocation may go unnoticed on a server that missed the message about it. */
  callerAgeMaxMs: 5_000,
  rateBucketsMax: 100_000,
  tokenUseFlushMs: 10_000,
  upkeepIntervalMs: 60_000,
  upkeepBatchRows: 5_000,
  upkeepBatchesMax: 200,
  rotationBatchRows: 200,
  runPartitionsAheadDays: 7,
  /** Reports that go into one statement; a message that exceeds either stays whole. */
  recordedAtOnceRows: 1_000,
  recordedAtOnceBytes: 4 * 1024 * 1024,
  /** How long the recorder pauses when the database does not answer: ever longer. */
  recorderPauseMsMin: 100,
  recorderPauseMsMax: 2_000,
  /** The queue: what one claim is given at the most, and how much of arguments in one message. */
  claimedAtOnceMax: 200,
  claimedArgsBytesMax: 512 * 1024,
  /** Of 64 owners each, as long as none of them may run anything. */
  walksPerClaimMax: 16,
  /** Owners of whom it is remembered which of their vals had its turn last. */
  turnsRememberedMax: 64,
  dueLookedAtMax: 1_000,
  wakeIntervalMs: 5,
  /** Runs of several requests that are enqueued in one statement, and how many such statements at once. */
  enqueuedAtOnceMax: 200,
  enqueuesUnderWayMax: 2,
  ownersSeenMax: 10_000,
  /** How old what is known of an owner's queue and of their day may be. */
  standingAgeMaxMs: 1_000,
  usageDaysShown: 30,
  usageKeptDays: 400,
  queueRetryAfterSeconds: 5,
  endsPerHintMax: 500,
  /** How often whoever waits for a run looks by itself, in case no hint comes. */
  waitLookMs: 1_000,
  /** A runner that has not been heard of for this long is gone, and its runs are lost. */
  runnerSilenceMsMax: 30_000,
  runnerLookMs: 2_000,
  lostAtOnceRows: 500,
  /** Before another attempt, however often the pause was doubled. */
  retryPauseMsMax: 24 * 60 * 60_000,
  tailsOfCallerMax: 20,
  tailsMax: 1_000,
  tailRetryAfterSeconds: 10,
  /** How soon the client of a tail comes back by itself. */
  tailRetryMs: 1_000,
  /** Also how long a tail may go on after its token was revoked or its val deleted. */
  tailHeartbeatMs: 15_000,
  /** A reader of events that takes nothing for this long is cut off. */
  eventStallMsMax: 15_000,
  /** Of one batch; all of them are counted. */
  faultsObservedMax: 5,
  /** A planned time fires up to this late; later it is missed. */
  firingLateMsMax: 60_000,
  firedAtOnceMax: 500,
  /** Of one batch, planned times that were missed; beyond that there are very many. */
  missedCountedMax: 5_000,
  /** How long the scheduler sleeps at the most, and how long when others are at what is due. */
  scheduleLookMs: 200,
  schedulerTurnMs: 20,
  schedulerPauseMsMin: 100,
  schedulerPauseMsMax: 2_000,
  /** A database's clock that goes back by less was not put back. */
  clockStepMsMin: 2_000,
  /** No zone changes its clock and takes it back within this time. */
  unchangedClockMsMax: 12 * 60 * 60_000,
  /** Expressions that are kept ready for use; 160 kB each. */
  plansKeptMax: 250,
  /** Names of time zones, of which there are about 600; 50 kB each. */
  zonesKeptMax: 600,
  /** What an alert tells of a run's error. */
  alertErrorNameCharsMax: 200,
  alertErrorMessageCharsMax: 2_000,
  /** Between the attempts of a delivery, of which there is one more. */
  deliveryPausesMs: [10_000, 60_000, 300_000, 1_800_000],
  deliveryPollMs: 1_000,
  deliveriesAtOnceMax: 32,
  /** Taken at once; the next ones of that owner wait until these are over. */
  deliveriesOfOwnerMax: 4,
  /** How many owners are looked at in one walk, and how many walks there are at a time; the next begins after them. */
  deliveringOwnersWalkedMax: 256,
  deliveringWalksMax: 16,
  /** One attempt: more than a runner takes for it, and less than the time for which it is ours. */
  deliveryTimeoutMs: 30_000,
  deliveryLeaseMs: 60_000,
  /** While no runner has room it is not tried: again after this at the least, and given up at this age. */
  deliveryAgainMsMin: 5_000,
  deliveryAgeMaxMs: 24 * 3_600_000,
  generatedNameTriesMax: 5,
  putTriesMax: 5,
} as const
