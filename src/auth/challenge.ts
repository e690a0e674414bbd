/**
 * What a server asks for in a `WWW-Authenticate` header (RFC 9110, section 11.6.1).
 *
 * @module
 */

/** One challenge. A token68 after the scheme is left out. */
export interface Challenge {
  /** Its scheme in small letters, such as `bearer`. */
  readonly scheme: string;
  /** Its parameters by their names in small letters; the first of a name counts. It has no prototype. */
  readonly parameters: Readonly<Record<string, string>>;
}

/**
 * One element of the header: a parameter (its name, what is in quotes, the closing quote, or its plain value), a scheme
 * (a name and nothing else), or what is neither, up to the next comma. What is in quotes runs to the end when nothing closes
 * it, so that no part of a header is looked at twice. Plain values may hold more than a token: servers leave quotes out of URLs.
 */
const element =
  /[\s,]*(?:([\w!#$%&'*+.^`|~-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\[^]?)*)("?)|([^\s,"=][^\s,"]*))|(?:\s+[\w.~+/-]+=*(?=\s*(?![^,])))?(?![^\s,]|\s*=))|(?:[^,"]|"(?:[^"\\]|\\[^]?)*"?)+)/gy;

/**
 * Reads all challenges of a header. It never throws: bad parts are skipped, a header above 16 KiB says nothing, and at most 256
 * elements (schemes and parameters) are read.
 *
 * @param header The value of the header; null where there is none.
 */
export function readChallenges(header: string | null): Challenge[] {
  const challenges: Challenge[] = [];
  if (!header || header.length > 16_384) return challenges;
  let parameters: Record<string, string> | undefined;
  let left = 256;
  for (const [, name, quoted, closing, plain] of header.matchAll(element)) {
    if (!left--) break;
    const value = closing ? quoted?.replace(/\\([^])/g, "$1") : plain;
    if (!name) continue;
    if (value !== undefined) parameters && (parameters[name.toLowerCase()] ??= value);
    else if (quoted === undefined) {
      challenges.push({ scheme: name.toLowerCase(), parameters: parameters = Object.create(null) });
    }
  }
  return challenges;
}
