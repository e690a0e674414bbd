/**
 * Bearer tokens in requests: from the Authorization header alone (RFC 6750, section 2.1).
 *
 * @module
 */

/** The longest token that is looked at, in characters. */
const longest = 16_384;

/** What a request says of its bearer: a token, nothing at all, or what cannot be understood. */
export type Bearer =
  | { readonly token: string }
  | { readonly token?: undefined; readonly wrong: string | undefined };

/** Reads the token of a request. A token in the query is none, and refused beside one in the header. */
export function readBearer({ headers, url }: Request): Bearer {
  const header = headers.get("authorization");
  // Another scheme is no attempt that could be corrected.
  if (header === null || !/^bearer(\s|,|$)/i.test(header)) return { wrong: undefined };
  const [, token] = /^bearer +([\w.~+/-]+=*)$/i.exec(header) ?? [];
  if (token === undefined) return { wrong: 'Expected one token after "Bearer"' };
  if (token.length > longest) return { wrong: "The token is too long" };
  return hasQueryToken(url) ? { wrong: "The token was sent twice" } : { token };
}

/** Whether a text can be one scope (RFC 6749, section 3.3). */
export function isScope(text: unknown): text is string {
  return typeof text === "string" && /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(text);
}

function hasQueryToken(url: string): boolean {
  return url.includes("?") && new URL(url).searchParams.has("access_token");
}
