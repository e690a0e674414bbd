/**
 * The one way out for requests to the server that the operator named: redirects by hand, errors by class.
 *
 * @module
 */
import { ConnectError, ConnectionClosedError, McpError, RedirectRefusedError } from "../protocol/errors.ts";
import type { Fetch } from "../ports.ts";
import { discard } from "./body.ts";

const mostRedirects = 3;

/**
 * Sends one request and follows only what keeps its meaning and its origin: 307 and 308 to the same origin, three at most.
 *
 * @param fetch The port that sends it.
 * @param url An address that the operator gave.
 * @param init As for `fetch`; `redirect` is set to `manual`.
 * @throws {RedirectRefusedError} When the server redirects anywhere else, or a fourth time.
 * @throws {ConnectError} When no connection came about.
 * @throws {ConnectionClosedError} When the connection broke before the reply's head was there.
 */
export async function egressFetch(fetch: Fetch, url: string, init: RequestInit): Promise<Response> {
  init.redirect = "manual";
  let response = await send(fetch, url, init);
  for (let hops = 0; response.type === "opaqueredirect" || isRedirect(response.status); hops++) {
    const target = redirectTarget(url, response);
    discard(response);
    if (typeof target !== "string" || hops === mostRedirects) {
      throw new RedirectRefusedError(
        `Cannot follow the redirect (${response.status}) of "${label(url)}"${
          target === undefined ? "" : ` to "${label(String(target))}"`
        }: only 307 and 308 to the same origin are followed, at most ${mostRedirects} times`,
        { delivery: "answered" },
      );
    }
    url = target;
    response = await send(fetch, url, init);
  }
  return response;
}

/** A URL fit for messages and logs: without user, query and fragment. */
export function label(url: string): string {
  try {
    const { protocol, host, pathname } = new URL(url);
    return protocol + "//" + host + pathname;
  } catch {
    return url.split(/[?#]/, 1)[0] ?? "";
  }
}

async function send(fetch: Fetch, url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    if (error instanceof McpError || init.signal?.aborted) throw error;
    throw networkError(error, url);
  }
}

/** What a failed `fetch` means: not connected at all where the runtime names it so, else broken off. */
function networkError(error: unknown, url: string): McpError {
  const named = connectFailure(error);
  return named
    ? new ConnectError(`Cannot connect to "${label(url)}": ${named}`, {
      cause: error,
      delivery: "not-sent",
      retryable: true,
    })
    : new ConnectionClosedError(`The connection to "${label(url)}" broke before a reply came`, {
      cause: error,
      retryable: true,
    });
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused: check that the server is running and the port is right",
  ConnectionRefused: "the connection was refused: check that the server is running and the port is right",
  ENOTFOUND: "the host name is unknown",
  EAI_AGAIN: "the host name cannot be resolved now",
  FailedToOpenSocket: "no connection could be opened: check the host name and the port",
  EHOSTUNREACH: "the host cannot be reached",
  ENETUNREACH: "the network cannot be reached",
  UND_ERR_CONNECT_TIMEOUT: "the connection took too long",
};

function connectFailure(error: unknown): string | undefined {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 4; cause = cause.cause, depth++) {
    const code = (cause as { code?: unknown }).code;
    if (typeof code !== "string") continue;
    const reason = reasons[code];
    if (reason) return reason;
    if (/CERT|TLS|SSL/.test(code)) return `its certificate was not accepted (${code})`;
  }
  return undefined;
}

function isRedirect(status: number): boolean {
  return status > 300 && status < 309 && status !== 304;
}

/** The next address; a URL object when it must not be followed; undefined when there is none. */
function redirectTarget(url: string, response: Response): string | URL | undefined {
  const location = response.headers.get("location");
  if (!location) return undefined;
  let target: URL;
  try {
    target = new URL(location, url);
  } catch {
    return undefined;
  }
  const kept = (response.status === 307 || response.status === 308) && target.origin === new URL(url).origin;
  return kept ? target.href : target;
}
