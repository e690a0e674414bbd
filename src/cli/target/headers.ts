/**
 * What may be sent as a header.
 *
 * @module
 */

/** True for a name of token characters and a value of visible Latin-1 characters, spaces and tabs. */
export function isHeader(name: string, value: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}
