/** How much of a process's output is kept in memory to explain its end. */
export const recentLinesMax = 64
export const recentLineCharsMax = 2_000

/** A log file that grows past this is moved aside to `<name>.1`, over the one before. */
export const logFileBytesMax = 16 * 1024 * 1024

/** After a process's exit: how long its grandchildren may still hold its output open. */
export const outputCloseTimeoutMs = 1_000

/** How long a process left over by a killed run gets to end in order before it is killed. */
export const leftoverStopTimeoutMs = 5_000
export const leftoverKillTimeoutMs = 5_000
export const leftoverPollMs = 20

export const commandTimeoutMs = 60_000
export const commandOutputBytesMax = 8 * 1024 * 1024

/** How long a command in the terminal gets after a signal was passed on to it. */
export const terminalStopTimeoutMs = 15_000
