/**
 * What of a server's text may stand in an error.
 *
 * @module
 */

/** The start of a text: 2 KiB, or `length` characters. */
export function excerpt(text: string, length = 2048): string {
  return text.length > length ? text.slice(0, length) + "…" : text;
}
