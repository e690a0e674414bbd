/**
 * What a session keeps at most.
 *
 * @module
 */

/** The longest URI that can be watched, in characters: sessions keep what they watch. */
export const longestUri = 8_192;
