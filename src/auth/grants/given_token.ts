/**
 * Tokens that the operator gives: as a text, or by a function that is asked for each.
 *
 * @module
 */

/** A token, or what gets one. Secret. */
export type TokenSource<Context> = string | ((context: Context) => string | Promise<string>);

/** Longer ones are no tokens: SAML assertions have some ten kilobytes. */
const longest = 131_072;

/**
 * Checks a source before it is used.
 *
 * @param what How messages call it.
 * @throws {TypeError} When it is neither a function nor a token.
 */
export function checkSource(source: unknown, what: string): void {
  if (typeof source !== "function") checkToken(source, what);
}

/**
 * Gets a token from a source. What its function throws goes through as it is.
 *
 * @throws {TypeError} When what it gives is no token. It is not in the message.
 */
export async function readToken<Context extends { readonly signal: AbortSignal }>(
  source: TokenSource<Context>,
  context: Context,
  what: string,
): Promise<string> {
  if (typeof source === "string") return checkToken(source, what);
  const { signal } = context;
  signal.throwIfAborted();
  let onAbort = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
  });
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return checkToken(await Promise.race([aborted, source(context)]), what);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** The token without the line end of the file that it was read from. */
function checkToken(value: unknown, what: string): string {
  const token = typeof value === "string" ? value.trim() : "";
  if (/^[\x21-\x7e]+$/.test(token) && token.length <= longest) return token;
  const got = typeof value !== "string" ? `a value of type ${typeof value}` : token ? "another text" : "an empty one";
  throw new TypeError(`Cannot use ${what}: expected a token as a text of visible ASCII characters, got ${got}`);
}
