const mib = 1024 * 1024
const minuteMs = 60_000

/** Every bound of the runner. What an operator may set is in config.ts, with these as defaults where it says so. */
export const limits = {
  // One sandbox
  memoryBytesMax: 256 * mib,
  heapMib: 128,
  cpuCoresMax: 1,
  pidsMax: 64,
  temporaryBytesMax: 64 * mib,
  openFilesMax: 1_024,

  // Workers
  idleWorkers: 4,
  bootsAtOnceMax: 2,
  refillDelayMs: 50,
  bootTimeoutMs: 15_000,
  bootRetryWaitMs: 1_000,
  loadTimeoutMs: 20_000,
  /** What a worker counts for until its memory has been measured. */
  workerBytesGuess: 48 * mib,
  measureIntervalMs: 2_000,
  /** At a time, in turn: three files are read for each. */
  measuredAtOnceMax: 16,
  workersPerValMax: 4,
  requestsPerWorkerMax: 100,
  /** Beyond this many requests at once in each of its workers, a val gets another worker. */
  requestsPerWorkerEasy: 50,
  /** Runs in an isolate of their own that share a sandbox of their val's. */
  isolatesPerWorkerMax: 4,
  warmIdleMsMax: 5 * minuteMs,
  drainMsMax: 30_000,
  /** When others wait for memory and one owner has most of it, that owner's workers get only this long. */
  squeezeMsMax: 5_000,
  ownerShareMax: 0.5,
  tickMs: 250,
  /** How long an event loop may go without a turn while a request waits. */
  stallMsMax: 5_000,
  /** The same for vals that answer no requests: what is run by hand or on a schedule may compute for a while. */
  quietStallMsMax: 30_000,
  /** A warm worker without a request is asked as often whether it is still turning. */
  idlePingIntervalMs: 5_000,
  /** And may use this much of a processor on average, with nobody having called it. */
  idleCpuShareMax: 0.2,
  endWaitMs: 2_000,
  causeWaitMs: 50,
  /** A val whose workers keep ending by themselves waits between boots: doubling, up to the most. */
  crashWaitMs: 100,
  crashWaitMsMax: 10_000,
  controlLineBytesMax: 256 * 1024,
  /** What is read of a worker's line in a second, in characters; each line counts for some more, as it costs. */
  controlCostPerSecondMax: 4 * mib,
  controlLineCost: 256,

  // Requests
  requestBodyBytesMax: 64 * mib,
  requestHeaderBytesMax: 32 * 1024,
  answerHeaderBytesMax: 64 * 1024,
  declinedBytesMax: 64 * 1024,
  answerBytesMax: 1024 * mib,
  firstByteMsMax: 30_000,
  runMsMax: 5 * minuteMs,
  /** A WebSocket may stay open longer than an answer. */
  tunnelMsMax: 60 * minuteMs,
  requestReceiveMsMax: 2 * minuteMs,
  headersReceiveMsMax: 10_000,
  keepAliveMs: 65_000,
  workerKeepAliveMs: 60_000,
  connectionsMax: 10_000,
  requestsQueuedPerValMax: 200,
  queueWaitMsMax: 10_000,
  retryAfterSeconds: 1,
  /** How long a refused request's body is still read, to no use but that its client hears of the refusal. */
  lingerMsMax: 1_000,
  stopMsMax: 10_000,

  // Queued runs
  /** Claimed and not over. More than one owner may have at once, so that nobody takes all of them. */
  queuedRunsAtOnceMax: 512,
  claimedAtOnceMax: 200,
  /** Of one val at once, and how many of it may be claimed and not have begun: few, to be lost with this runner. */
  claimedPerValMax: 32,
  waitingPerValMax: 8,
  claimTimeoutMs: 3_000,
  claimRetryWaitMs: 1_000,
  /** How often to ask for runs though nobody said that some wait. */
  claimPollMs: 2_000,
  claimJitterMs: 500,
  beatIntervalMs: 5_000,
  beatTimeoutMs: 2_000,
  beatRetryWaitMs: 250,
  beatRunsMax: 5_000,
  /** How long it is told that the answer to a claim did not come: until then some server may still carry it out. */
  abandonedToldMs: 10 * minuteMs,
  /** In how many beats that were heard a run that was reported is still called ours, while its record does not show. */
  reportedBeatsMax: 120,
  /** How long a claimed run waits for what its val is, and how often that is asked. */
  headWaitMsMax: 20_000,
  headAskAgainMs: 500,
  handBackWaitMs: 1_000,
  handBackTimeoutMs: 2_000,
  handBackTriesMax: 5,
  knownKindsMax: 20_000,
  /** How soon the report of a queued run is sent: somebody may wait for it. */
  queuedBatchMs: 5,

  // Heads
  headAgeMaxMs: 10_000,
  /** From this age on a head that is in use is asked for again, before anybody has to wait for it. */
  headRefreshAgeMs: 5_000,
  headTimeoutMs: 1_500,
  /** Once nobody answered, how long to go on with what is known before asking again. */
  headRetryWaitMs: 500,
  headsCachedMax: 20_000,
  headsCachedBytesMax: 256 * mib,
  callersCachedMax: 10_000,
  callerAgeMaxMs: 5_000,

  // Alerts
  /** Each takes a sandbox; the servers hear of those beyond, and try again. */
  deliveriesAtOnceMax: 16,
  /** For a sandbox, after which it is not begun any more. */
  deliveryWaitMsMax: 10_000,
  deliveryTimeoutMs: 10_000,
  /** For the way into the sandbox and back. */
  deliveryGraceMs: 2_000,
  deliveryReplyBytesMax: 16 * 1024,
  deliveryMessageCharsMax: 500,

  // Reports
  settleTickMs: 100,
  tailTickMs: 20,
  /** A run waits so long for its last lines from a worker that does not answer. */
  settleMsMax: 1_000,
  batchMs: 200,
  batchReportsMax: 500,
  batchBytesMax: 512 * 1024,
  batchesUnderWayMax: 4,
  batchRetryWaitMs: 250,
  reportsWaitingBytesMax: 128 * mib,
  tailEventsPerMessageMax: 200,
  tailLongLineChars: 2_048,
  requestPathCharsMax: 2_048,
} as const
