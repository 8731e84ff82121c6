/** Recovery after a crash replays the log first, so a start may take a while. */
export const postgresReadyTimeoutMs = 60_000
export const postgresStopTimeoutMs = 20_000
export const postgresInitTimeoutMs = 60_000
export const postgresConnectionsMax = 200

/** The longest code, with every character escaped, and its variables travel in one message. */
export const natsPayloadBytesMax = 4 * 1024 * 1024
export const natsReadyTimeoutMs = 15_000
export const natsStopTimeoutMs = 10_000

/**
 * Below the range from which the kernel takes the ports of outgoing connections. Inside of it, a client
 * that keeps calling a stopped server could be given the server's own port, and block its restart.
 */
export const ownPortMin = 15_000
export const ownPortMax = 31_999
export const portAttemptsMax = 50
