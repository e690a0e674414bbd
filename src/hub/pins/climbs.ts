/**
 * URIs that lead elsewhere than their text says.
 *
 * @module
 */

const step = /(?:[/\\]|%2f|%5c)(?:\.|%2e){2}(?:[\0- /\\?#]|%2f|%5c|$)/i;

/** Whether there is a step upwards in its path. Parsers of URLs skip blanks, and control characters at the end. */
export function climbs(uri: string): boolean {
  return step.test(uri.replace(/\s/g, ""));
}
