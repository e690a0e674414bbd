/**
 * URLs as texts.
 *
 * @module
 */

/**
 * The URL that a text is, or undefined. Not by `URL.canParse`: Node 20, once it has compiled the caller, takes none of
 * them for a URL that have a Latin letter beyond ASCII (`https://bücher.example`).
 */
export function readUrl(text: string | URL, base?: string): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
