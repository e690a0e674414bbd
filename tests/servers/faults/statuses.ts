/**
 * Faults in the head of the reply: status, type, redirects, session ids.
 *
 * @module
 */
import { type Fault, type FaultContext, rpcError, status, text } from "./fault.ts";

type RetryAfter = "none" | "0" | "1" | "negative" | "huge" | "date" | "past" | "garbage";

/** Faults in the head of the reply. */
export type StatusFault =
  | "empty-202"
  | "empty-204"
  | "empty-200"
  | "html-200"
  | "plain-200"
  | "no-type"
  | `http-${400 | 401 | 403 | 404 | 405 | 413 | 431 | 500 | 502 | 504}`
  | "http-401-challenge"
  | "http-403-scope"
  | "http-400-empty"
  | "http-400-header-mismatch"
  | "http-400-missing-capability"
  | "http-400-unsupported-version"
  | "http-400-invalid-params"
  | "http-404-method-not-found"
  | "http-404-session"
  | "rpc-200-error"
  | `http-${429 | 503}-${RetryAfter}`
  | `redirect-${RedirectStatus}-${"same" | "other" | "loop"}`
  | "redirect-without-location"
  | "bad-session-id"
  | "huge-session-id";

/** The statuses of redirects. */
export type RedirectStatus = 301 | 302 | 303 | 307 | 308;

/** The faults by name. Those that answer with an error status have not executed the request. */
export const statusFaults: Readonly<Record<StatusFault, Fault>> = {
  "empty-202": head(202, null),
  "empty-204": head(204, null),
  "empty-200": { reply: () => new Response(null, { status: 200, headers: { "content-type": "application/json" } }) },
  "html-200": { reply: () => text("<!doctype html><title>Log in</title><p>Please log in", "text/html") },
  "plain-200": { reply: async (context) => text(JSON.stringify(await context.answer()), "text/plain") },
  "no-type": {
    reply: async (context) => new Response(new TextEncoder().encode(JSON.stringify(await context.answer()))),
  },
  "http-400": head(400, "Bad Request"),
  "http-401": head(401, ""),
  "http-403": head(403, "Forbidden"),
  "http-404": head(404, "Not Found"),
  "http-405": head(405, "", { allow: "GET" }),
  "http-413": head(413, "Payload Too Large"),
  "http-431": head(431, "Request Header Fields Too Large"),
  "http-500": head(500, "Internal Server Error"),
  "http-502": head(502, "<html>Bad Gateway</html>", { "content-type": "text/html" }),
  "http-504": head(504, "Gateway Timeout"),
  "http-401-challenge": head(401, "", {
    "www-authenticate":
      'Bearer realm="fake", resource_metadata="http://fake.test/.well-known/oauth-protected-resource"',
  }),
  "http-403-scope": head(403, "", {
    "www-authenticate": 'Bearer error="insufficient_scope", scope="tools:call"',
  }),
  "http-400-empty": head(400, null),
  "http-400-header-mismatch": rpc(-32020, 400),
  "http-400-missing-capability": rpc(-32021, 400, { requiredCapabilities: { sampling: {} } }),
  "http-400-unsupported-version": rpc(-32022, 400, { supported: ["2099-01-01"], requested: "2026-07-28" }),
  "http-400-invalid-params": rpc(-32602, 400),
  "http-404-method-not-found": rpc(-32601, 404),
  "http-404-session": {
    reply(context) {
      context.forget();
      return rpcError(context, -32001, { status: 404 });
    },
  },
  "rpc-200-error": rpc(-32001, 200, { reason: "of the server's own" }),
  ...retryFaults(429),
  ...retryFaults(503),
  ...redirectFaults(301),
  ...redirectFaults(302),
  ...redirectFaults(303),
  ...redirectFaults(307),
  ...redirectFaults(308),
  "redirect-without-location": head(307, ""),
  "bad-session-id": session(() => "two words \u00e9"),
  "huge-session-id": session((context) => "s".repeat(context.size ?? 100_000)),
};

function head(code: number, body: string | null, headers: Record<string, string> = {}): Fault {
  return { reply: () => status(code, body, headers) };
}

function rpc(code: number, httpStatus: number, data?: unknown): Fault {
  return { reply: (context) => rpcError(context, code, { status: httpStatus, data }) };
}

/** The request is answered well, under a session id that is none. */
function session(id: (context: FaultContext) => string): Fault {
  return {
    on: "initialize",
    async reply(context) {
      const response = await context.healthy();
      const headers = new Headers(response.headers);
      headers.set("mcp-session-id", id(context));
      return new Response(response.body, { status: response.status, headers });
    },
  };
}

type Retries<Code extends 429 | 503> = Record<`http-${Code}-${RetryAfter}`, Fault>;

function retryFaults<Code extends 429 | 503>(code: Code): Retries<Code> {
  const after = (value: (context: FaultContext) => string): Fault => ({
    reply: (context) => status(code, "later", { "retry-after": value(context) }),
  });
  const date = (seconds: number) => after(({ clock }) => new Date(clock.now() + seconds * 1_000).toUTCString());
  const named = {
    [`http-${code}-none`]: head(code, "later"),
    [`http-${code}-0`]: after(() => "0"),
    [`http-${code}-1`]: after(() => "1"),
    [`http-${code}-negative`]: after(() => "-1"),
    [`http-${code}-huge`]: after(() => "1000000000"),
    [`http-${code}-date`]: date(2),
    [`http-${code}-past`]: date(-3_600),
    [`http-${code}-garbage`]: after(() => "soon, I think"),
  };
  return named as Retries<Code>; // the keys are the eight names of the type, written out
}

type Redirects<Code extends RedirectStatus> = Record<`redirect-${Code}-${"same" | "other" | "loop"}`, Fault>;

function redirectFaults<Code extends RedirectStatus>(code: Code): Redirects<Code> {
  const to = (target: (context: FaultContext, url: URL) => string): Fault => ({
    reply(context) {
      const url = new URL(context.request.url);
      return status(code, "", { location: target(context, url) });
    },
  });
  const named = {
    [`redirect-${code}-same`]: to((_context, url) => `${url.pathname}?moved=1`),
    [`redirect-${code}-other`]: to((context, url) => `${context.otherOrigin}${url.pathname}`),
    [`redirect-${code}-loop`]: to((context, url) => `${url.pathname}?hop=${context.attempt}`),
  };
  return named as Redirects<Code>; // the keys are the three names of the type, written out
}
