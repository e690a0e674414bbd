/**
 * What of a server's text, and of an address, may stand in an error.
 *
 * @module
 */

/** The start of a text: 2 KiB, or `length` characters. */
export function excerpt(text: string, length = 2048): string {
  return text.length > length ? text.slice(0, length) + "…" : text;
}

/** A URL fit for messages and logs: without user name, password, query and fragment. What is no URL is cut at `?` or `#`. */
export function urlWithoutQuery(url: string | URL): string {
  return `${url}`.replace(/[?#].*/s, "").replace(/^(([^:\\/]*:)?[\s\\/]*)(\S[^\\/]*)?@/, "$1");
}
