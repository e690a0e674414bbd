/**
 * Sizes in bytes.
 *
 * @module
 */

/** From here on memory that is let go of early is worth the work. */
export const largeBytes = 1_000_000;
