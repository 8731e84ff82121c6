export const serverReadyTimeoutMs = 60_000
/** Longer than the server's own bound for draining, so that it is the server that gives up first. */
export const serverStopTimeoutMs = 30_000
