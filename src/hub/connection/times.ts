/**
 * How long the server of a hub is waited for, and left in peace, in milliseconds.
 *
 * @module
 */

/** Until it is connected, unless its config says something else. */
export const defaultTimeout = 30_000;
/** What a client that keeps to the time-out by itself is given to say so. */
export const grace = 50;
/** How long a connection has to last to make up for those before it (a call that works does so at once), or a stream of changes. */
export const calm = 60_000;
/** The least between two tries where it refused: it will not change its mind in a second. */
export const afterRefusal = 5_000;
/** How long changes are gathered. */
export const debounce = 250;
/** From one list to the next; doubled each time that nothing had changed. */
export const firstPause = 5_000;
export const longestPause = 60_000;
