/**
 * Servers that do not work, each in its own way; what they are sent is counted.
 *
 * @module
 */
import type { Fetch } from "../../src/ports.ts";
import type { RemoteServer } from "../../src/hub/seam.ts";
import { createHandler } from "../../src/server/mod.ts";
import { memoryFetch } from "../servers/memory_fetch.ts";
import type { VirtualClock } from "../support/virtual_clock.ts";
import { createServer } from "./support.ts";

/** A server at a URL, and when requests came. */
export interface CountedServer {
  readonly config: RemoteServer;
  /** By the test's clock. */
  readonly requests: number[];
}

/** Where a fake server is said to be. */
export function urlOf(name: string): string {
  return `http://${name}.test/mcp`;
}

/** Counts what is sent to a server. */
export function counted(
  name: string,
  clock: VirtualClock,
  fetch: Fetch,
  rest: Partial<RemoteServer> = {},
): CountedServer {
  const requests: number[] = [];
  return {
    requests,
    config: {
      url: urlOf(name),
      ...rest,
      fetch: (url, init) => {
        requests.push(clock.monotonic());
        return fetch(url, init);
      },
    },
  };
}

/** Whether a request is one for this method; on Deno the bodies of calls are streams. */
export function asks({ headers }: RequestInit, method: string): boolean {
  return new Headers(headers).get("mcp-method") === method;
}

/** A fetch to a healthy server. */
export function healthy(name: string): Fetch {
  return memoryFetch({ fetch: createHandler(createServer(name), { allowedHosts: [`${name}.test`] }) });
}

/** What a system says that finds nobody. */
function refused(): Error {
  return Object.assign(new TypeError("fetch failed"), {
    cause: Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" }),
  });
}

function never(init: RequestInit): Promise<Response> {
  return new Promise((_, reject) => init.signal?.addEventListener("abort", () => reject(init.signal?.reason)));
}

const status = (code: number, headers?: Record<string, string>): Fetch => () =>
  Promise.resolve(new Response("no", { status: code, ...(headers && { headers }) }));

/** Ways of not working, by name. */
export function faultyFetches(clock: VirtualClock): Readonly<Record<string, Fetch>> {
  let flips = 0;
  return {
    dead: () => Promise.reject(refused()),
    hanging: (_, init) => never(init),
    reset: () => Promise.reject(new TypeError("fetch failed")),
    unauthorized: status(401, { "www-authenticate": "Bearer" }),
    forbidden: status(403),
    missing: status(404),
    broken: status(500),
    busy: status(503),
    busyForLong: status(503, { "retry-after": "60" }),
    limited: status(429, { "retry-after": "1" }),
    html: () => Promise.resolve(new Response("<html></html>", { headers: { "content-type": "text/html" } })),
    wrongJson: () => Promise.resolve(new Response("{", { headers: { "content-type": "application/json" } })),
    otherJson: () => Promise.resolve(Response.json({ hello: "world" })),
    empty: () => Promise.resolve(new Response("")),
    endless: () =>
      Promise.resolve(
        new Response(new ReadableStream(), { headers: { "content-type": "text/event-stream" } }),
      ),
    flapping: (url, init) => ++flips % 2 ? Promise.reject(refused()) : healthy("flapping")(url, init),
    dying: (url, init) => clock.monotonic() > 100 ? Promise.reject(refused()) : healthy("dying")(url, init),
    deaf: (url, init) => asks(init, "tools/call") ? never(init) : healthy("deaf")(url, init),
    failing: (url, init) => asks(init, "tools/call") ? status(500)(url, init) : healthy("failing")(url, init),
  };
}
