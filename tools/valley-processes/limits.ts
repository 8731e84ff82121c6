export const readyTimeoutMs = 60_000
/** Longer than their own bounds for draining, so that it is they who give up first. */
export const stopTimeoutMs = 30_000
