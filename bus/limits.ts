export const limits = {
  connectTimeoutMs: 2_000,
  reconnectWaitMs: 250,
  reconnectJitterMs: 250,
  pingIntervalMs: 10_000,
  pingsLostMax: 2,
} as const
