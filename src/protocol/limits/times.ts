/**
 * Times that only a part looks at, in milliseconds: a bundle without that part has none of them.
 *
 * @module
 */

/** How long a pipe is given to answer `server/discover`. */
export const probeTime = 5_000;
/** How long the end of a session or a process is waited for. */
export const closeTime = 2_000;
/** How long a list may gather pages. */
export const pagesTime = 30_000;
/** The longest pause that a server's `retry` may ask for. */
export const longestRetry = 300_000;
