/**
 * Credentials that are there already: an access token, or the key of an API.
 *
 * @module
 */
import { Redactor } from "../egress/redact.ts";
import { AuthorizationError, McpError } from "../protocol/errors.ts";
import type { Authorizer, Fetch } from "../ports.ts";

/** A text, or what gives it: that is asked for each request, so that what it gives may change. `signal` ends the wait. */
export type Credential = string | ((signal?: AbortSignal) => string | Promise<string>);

/**
 * Puts an access token on each request: `Authorization: Bearer …`. A server that does not take it is an
 * `UnauthorizedError`: nothing is asked for again by itself.
 *
 * The token goes to the origin that `connect` was given, and to no other. In errors it is `[redacted]`, in whatever form,
 * when it has 6 characters or more.
 *
 * @param token The token without the word "Bearer", or what gives it.
 * @throws {TypeError} When the token is empty or holds anything but visible ASCII.
 *
 * @example A token that is renewed elsewhere
 * ```ts ignore with=example
 * import { connect } from "@causeway/mcp";
 * import { bearerAuth } from "@causeway/mcp/auth";
 *
 * const tokens = { current: () => Promise.resolve({ accessToken: "t0ken" }) };
 * const auth = bearerAuth(async () => (await tokens.current()).accessToken);
 * await using client = await connect("https://example.com/mcp", { auth });
 * ```
 */
export function bearerAuth(token: Credential): Authorizer {
  const rule = { pattern: /^[!-~]+$/, wanted: 'visible ASCII without spaces, and without the word "Bearer"' };
  return createAuthorizer("Authorization", "Bearer ", token, rule);
}

/**
 * Puts a header of its own on each request, such as the key of an API.
 *
 * The value goes to the origin that `connect` was given, and to no other. In errors it is `[redacted]`, in whatever form,
 * and so is each of its words, when they have 6 characters or more.
 *
 * @param name The header's name, such as `X-API-Key`.
 * @param value Its value, or what gives it.
 * @throws {TypeError} When the name is none or belongs to the protocol, or the value is empty or cannot stand in a header.
 *
 * @example A key of an API
 * ```ts ignore with=example
 * import { connect } from "@causeway/mcp";
 * import { headerAuth } from "@causeway/mcp/auth";
 *
 * await using client = await connect("https://example.com/mcp", { auth: headerAuth("X-API-Key", "k3y") });
 * ```
 */
export function headerAuth(name: string, value: Credential): Authorizer {
  if (typeof name !== "string" || !/^[\w!#$%&'*+.^`|~-]+$/.test(name)) {
    throw new TypeError("Cannot use this name of a header: expected letters, digits and dashes");
  }
  if (reserved.test(name)) {
    throw new TypeError(`Cannot use the header "${name}" for credentials: it has a meaning already`);
  }
  const rule = { pattern: /^[!-~]([ -~]*[!-~])?$/, wanted: "ASCII that begins and ends with a visible character" };
  return createAuthorizer(name, "", value, rule);
}

/** What the protocol or the connection says by itself. */
const reserved =
  /^(accept(-.*)?|connection|content-.*|expect|host|keep-alive|last-event-id|mcp-.*|origin|sec-.*|te|trailer|transfer-encoding|upgrade|via)$/i;

interface Rule {
  readonly pattern: RegExp;
  readonly wanted: string;
}

function createAuthorizer(name: string, scheme: string, credential: Credential, rule: Rule): Authorizer {
  const redactor = new Redactor();
  if (typeof credential !== "function") {
    const wrong = whyWrong(credential, rule);
    if (wrong !== undefined) throw new TypeError(wrong);
    learn(redactor, credential);
  }
  const valueFor = async (signal: AbortSignal | null | undefined): Promise<string> =>
    scheme + (typeof credential === "function" ? await ask(credential, signal, redactor, rule) : credential);
  return {
    wrap(fetch: Fetch, server: string): Fetch {
      const { origin } = new URL(server);
      return async (url, init) => {
        if (new URL(url).origin !== origin) return await fetch(url, init);
        const headers = new Headers(init.headers);
        headers.set(name, await valueFor(init.signal));
        return await fetch(url, { ...init, headers }).catch((error: unknown) => {
          throw redactor.clean(error);
        });
      };
    },
    redact: (text) => redactor.redact(text),
    headers: async (_server, signal) => ({ [name]: await valueFor(signal) }),
  };
}

async function ask(
  give: Exclude<Credential, string>,
  signal: AbortSignal | null | undefined,
  redactor: Redactor,
  rule: Rule,
): Promise<string> {
  try {
    const value = await give(signal ?? undefined);
    const wrong = whyWrong(value, rule);
    if (wrong !== undefined) throw new AuthorizationError(wrong, { delivery: "not-sent" });
    learn(redactor, value);
    return value;
  } catch (cause) {
    signal?.throwIfAborted();
    if (cause instanceof McpError) throw cause;
    throw new AuthorizationError("Cannot get the credentials", { cause, delivery: "not-sent" });
  }
}

/** Why what was given cannot be used, without a word of it; undefined where it can. */
function whyWrong(value: unknown, { pattern, wanted }: Rule): string | undefined {
  if (typeof value === "string" && pattern.test(value)) return undefined;
  return `Cannot use these credentials: expected ${wanted}, found ${foundText(value)}`;
}

/** What there is in the place of credentials, without a word of it. */
function foundText(value: unknown): string {
  if (value === undefined || value === null) return `${value}`;
  if (typeof value !== "string") return `a value of type ${typeof value}`;
  return value === "" ? "an empty text" : "another text";
}

/** Makes a value known. Words after a scheme ("Key …") are secrets too: a server may say one alone. */
function learn(redactor: Redactor, value: string): void {
  const rest = value.replace(/^[a-z-]+ +/i, "");
  for (const secret of new Set([value, rest, ...rest.split(" ")])) redactor.add(secret);
}
