/**
 * Fetches small documents from addresses that a server names: metadata, tokens, icons. Every hop is judged, the body is
 * bounded, and nothing is left open.
 *
 * @module
 */
import {
  ConnectError,
  ConnectionClosedError,
  EgressDeniedError,
  LimitExceededError,
  McpError,
} from "../protocol/errors.ts";
import { RedirectRefusedError, TimeoutError } from "../protocol/errors.ts";
import { type Clock, type Fetch, type Resolve, systemClock } from "../ports.ts";
import { eachChunk } from "./body.ts";
import { readUrl } from "./url.ts";
import { type EgressPolicy, isGivenOrigin, isLoopbackHost, judgeAddress, judgeUrl } from "./address.ts";
import { plain, urlWithoutQuery } from "./redact.ts";

/** What a guarded fetch needs. */
export interface GuardedFetchOptions {
  /** The port that sends. */
  readonly fetch: Fetch;
  /** Resolves names, so that their addresses are judged as well. Without it only the text of a URL can be judged. */
  readonly resolve?: Resolve | undefined;
  /** The URL that the operator gave: its origin is allowed as given, and loopback only when it is loopback itself. */
  readonly operator: string;
  /** More origins that the operator allows as given (none). */
  readonly allow?: readonly (string | URL)[] | undefined;
  /** Time (the system's clock). */
  readonly clock?: Clock | undefined;
  /** `documentBytes`: the most decompressed bytes of one document (262,144). */
  readonly limits?: { readonly documentBytes?: number | undefined } | undefined;
  /** `total`: milliseconds for one document over all its redirects (5,000). */
  readonly timeouts?: { readonly total?: number | undefined } | undefined;
}

/** As for `fetch`; `redirect` is always by hand. */
export type GuardedRequest = Omit<RequestInit, "redirect"> & {
  /** The most decompressed bytes of this document. */
  readonly bytes?: number | undefined;
  /** Milliseconds for this document. */
  readonly milliseconds?: number | undefined;
};

/** A document that was read to its end. */
export interface FetchedDocument {
  /** The HTTP status; what it means is for the caller to say. */
  readonly status: number;
  /** The headers of the reply. */
  readonly headers: Headers;
  /** The body as UTF-8 text. */
  readonly text: string;
  /** The body as it came, for images. */
  readonly body: Uint8Array;
  /** Where it came from, after redirects. */
  readonly url: string;
}

/** Fetches one document from an address that a server named. */
export type GuardedFetch = (url: string, init?: GuardedRequest) => Promise<FetchedDocument>;

/**
 * Makes a fetch for addresses that a server names. Each hop must pass the egress policy, by its text and by what its name
 * resolves to. GET and HEAD follow at most three redirects; when one leaves the origin, only `accept`, `accept-language`,
 * `user-agent` and `mcp-protocol-version` go along, so that no credential does, whatever its header is called. Other
 * methods follow only 307 and 308 to the same origin. Never from https to http.
 *
 * Between the check of a name and the connection the name may change: only an egress proxy or a runtime that pins
 * addresses closes that gap.
 *
 * The fetch that it returns rejects with the signal's own reason when its caller aborts, and
 *
 * @throws {EgressDeniedError} When a hop leads where this request must not go. Nothing was sent there.
 * @throws {RedirectRefusedError} When a redirect cannot be followed by these rules, or a fourth comes.
 * @throws {LimitExceededError} When the document is longer than `limits.documentBytes`.
 * @throws {TimeoutError} When it took longer than `timeouts.total`.
 * @throws {ConnectError} When a name does not resolve.
 * @throws {ConnectionClosedError} When the connection cannot be made or breaks.
 */
export function createGuardedFetch(options: GuardedFetchOptions): GuardedFetch {
  const { operator, allow, clock = systemClock, limits, timeouts } = options;
  const policy: EgressPolicy = { operator, allow, loopback: isLoopbackHost(readUrl(operator)?.hostname ?? "") };
  return async (url, init = {}) => {
    const { bytes, milliseconds, signal, ...rest } = init;
    signal?.throwIfAborted();
    const controller = new AbortController();
    const over = new Promise<never>((_, reject) => {
      controller.signal.addEventListener("abort", () => reject(controller.signal.reason), { once: true });
    });
    const time = milliseconds ?? timeouts?.total ?? 5_000;
    const end = () => controller.abort(new TimeoutError("total", time));
    // The second turn lets in what had arrived while this program stood still: a token may have been given out for good.
    let stopTimer = clock.schedule(() => stopTimer = clock.schedule(end, 0), time);
    const onAbort = () => controller.abort(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    const request: RequestInit = {
      credentials: "omit",
      referrerPolicy: "no-referrer",
      ...rest,
      redirect: "manual",
      signal: controller.signal,
    };
    try {
      return await Promise.race([
        over,
        follow(url, request, {
          ...options,
          policy,
          limit: bytes ?? limits?.documentBytes ?? 262_144,
          signal: controller.signal,
        }),
      ]);
    } finally {
      stopTimer();
      signal?.removeEventListener("abort", onAbort);
      controller.abort(); // cancels what is still open: the request, a body
    }
  };
}

/** What stays the same over all hops. `signal` is aborted on every way out, so whatever listens to it is cleaned up. */
type Route = Pick<GuardedFetchOptions, "fetch" | "resolve"> & {
  policy: EgressPolicy;
  limit: number;
  signal: AbortSignal;
};

async function follow(url: string, init: RequestInit, route: Route): Promise<FetchedDocument> {
  const mostRedirects = 3;
  for (let hops = 0;; hops++) {
    const from = await admit(url, route);
    route.signal.throwIfAborted();
    const response = await send(from.href, init, route);
    try {
      route.signal.throwIfAborted();
      const { status, headers, type } = response;
      if (type !== "opaqueredirect" && ![301, 302, 303, 307, 308].includes(status)) {
        const body = await readBytes(response, route);
        return { status, headers, body, text: new TextDecoder().decode(body), url: from.href };
      }
      const target = nextHop(from, response, init);
      if (typeof target === "string" || hops === mostRedirects) {
        const reason = typeof target === "string" ? target : `more than ${mostRedirects} redirects`;
        throw new RedirectRefusedError(
          `Cannot follow the redirect (${status}) of "${shown(url)}": ${reason}`,
          {
            delivery: "answered",
          },
        );
      }
      if (target.origin !== from.origin) init.headers = harmless(init.headers);
      url = target.href;
    } finally {
      response.body?.cancel().catch(() => {});
    }
  }
}

/** Lets a URL pass, or throws: judged by its text, then by every address that its name resolves to. */
async function admit(url: string, { resolve, policy }: Route): Promise<URL> {
  const denied = (reason: string) =>
    new EgressDeniedError(
      `Cannot fetch "${shown(url)}": ${plain(reason, 220)}; allow its origin if it is trusted`,
    );
  const reason = judgeUrl(url, policy);
  if (reason) throw denied(reason);
  const parsed = new URL(url);
  const { hostname } = parsed;
  if (!resolve || /^(\[|[\d.]+$)/.test(hostname) || isGivenOrigin(parsed, policy)) return parsed;
  let addresses: string[] = [];
  let cause: unknown;
  try {
    addresses = await resolve(hostname);
  } catch (error) {
    cause = error;
  }
  if (!addresses.length) {
    throw new ConnectError(`Cannot fetch "${shown(url)}": the name "${hostname}" does not resolve`, {
      cause,
      delivery: "not-sent",
      retryable: true,
    });
  }
  for (const address of addresses) {
    if (isLoopbackHost(hostname) && isLoopbackHost(address)) continue;
    const reason = judgeAddress(address);
    if (reason) throw denied(`"${hostname}" resolves to "${address}": ${reason}`);
  }
  return parsed;
}

async function send(url: string, init: RequestInit, { fetch, signal }: Route): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (cause) {
    if (cause instanceof McpError || signal.aborted) throw cause;
    throw new ConnectionClosedError(
      `Cannot fetch "${shown(url)}": no connection, or it broke before a reply came`,
      {
        cause,
        retryable: true,
      },
    );
  }
}

/** Where a redirect leads, or the reason why it is not followed. */
function nextHop(from: URL, { status, headers }: Response, { method = "GET", body }: RequestInit): URL | string {
  const location = headers.get("location");
  if (location === null) return "it does not tell where to";
  const target = readUrl(location, from.href);
  if (!target) return "it leads to no URL";
  if (from.protocol === "https:" && target.protocol === "http:") return "it leads from https to http";
  if (/^(GET|HEAD)$/i.test(method)) return target;
  if (status < 307 || target.origin !== from.origin) {
    return `${method} follows only 307 or 308 to the same origin`;
  }
  return body instanceof ReadableStream ? "a streamed body cannot be sent again" : target;
}

/** The headers that may go to an origin for which they were not meant. */
function harmless(headers: RequestInit["headers"]): Headers {
  const kept = new Headers();
  new Headers(headers).forEach((value, name) => {
    if (/^(accept|accept-language|user-agent|mcp-protocol-version)$/.test(name)) kept.set(name, value);
  });
  return kept;
}

async function readBytes(response: Response, { limit, signal }: Route): Promise<Uint8Array> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let seen = Number(response.headers.get("content-length"));
  const check = (): void => {
    if (seen > limit) throw new LimitExceededError("limits.documentBytes", limit, seen);
  };
  check();
  seen = 0;
  try {
    await eachChunk(response, false, (chunk) => {
      seen += chunk.length;
      check();
      chunks.push(chunk as Uint8Array<ArrayBuffer>);
    }, (cancel) => {
      signal.addEventListener("abort", cancel, { once: true });
      return () => {};
    });
  } catch (cause) {
    if (cause instanceof McpError) throw cause;
    throw new ConnectionClosedError("The connection broke before the document was whole", { cause, retryable: true });
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

/** An address that a server named, fit for a message. */
function shown(url: string): string {
  return plain(urlWithoutQuery(url), 200);
}
