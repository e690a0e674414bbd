/**
 * The headers that every reply of the runner has, whatever it is about.
 *
 * @module
 */
const exposedHeaders = "X-Request-Id, Location, Retry-After, X-Should-Retry, WWW-Authenticate, Mcp-Session-Id";
const always: readonly [string, string][] = [
  ["x-content-type-options", "nosniff"],
  ["referrer-policy", "no-referrer"],
  ["cross-origin-resource-policy", "same-origin"],
  ["cross-origin-opener-policy", "same-origin"],
];
/** Headers of replies that do not say it themselves. */
const otherwise: readonly [string, string][] = [
  ["content-security-policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"],
  ["cache-control", "no-store"],
];
/** Of JSON: copied as a whole, since each that is set by itself costs twice as much. */
const ofJson = new Headers([...always, ...otherwise, ["content-type", "application/json"]]);

/** Puts the headers on the reply to one request. */
export class Dressing {
  readonly #requestId: string;
  readonly #isSecure: boolean;
  #page: string | null = null;
  #dressed: Response | undefined;

  /** @param url The address of the request. */
  constructor(requestId: string, url: string) {
    this.#requestId = requestId;
    this.#isSecure = url.startsWith("https:");
  }

  /** Lets the page of an origin read the reply; null: there is none. */
  open(origin: string | null): void {
    this.#page = origin;
  }

  /** Makes a reply with JSON for its body, with all its headers. */
  json(text: string, status: number, headers: Readonly<Record<string, string>>): Response {
    const response = new Response(text, { status, headers: ofJson });
    for (const name in headers) response.headers.set(name, headers[name] ?? "");
    return this.#dressed = this.#finish(response);
  }

  /** Puts them on any other reply. What came of a fetch has some that cannot be changed, and is copied. */
  put(given: Response): Response {
    return given === this.#dressed ? given : this.#finish(withHeaders(given));
  }

  #finish(response: Response): Response {
    const { headers } = response;
    headers.set("x-request-id", this.#requestId);
    if (this.#isSecure) headers.set("strict-transport-security", "max-age=31536000");
    if (this.#page !== null) {
      headers.set("access-control-allow-origin", this.#page);
      headers.set("access-control-expose-headers", exposedHeaders);
      headers.append("vary", "Origin");
    }
    return response;
  }
}

function withHeaders(given: Response): Response {
  const { headers } = given;
  try {
    for (const [name, value] of always) headers.set(name, value);
  } catch {
    return withHeaders(new Response(given.body, given));
  }
  for (const [name, value] of otherwise) if (!headers.has(name)) headers.set(name, value);
  // Never with credentials: a cookie is good for our own pages alone.
  headers.delete("access-control-allow-credentials");
  return given;
}
