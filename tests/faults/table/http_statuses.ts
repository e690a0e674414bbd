/**
 * The matrix over HTTP: faults in the head of the reply.
 *
 * @module
 */
import type { RedirectStatus, StatusFault } from "../../servers/faults/statuses.ts";
import { type HttpRow, notSent, type Outcome, refused, right, unknown, violation } from "./row.ts";

/** Rows of statuses, types, redirects and session ids. Chance is 0.5 in the suite: half of each longest wait. */
export const statusRows: Readonly<Record<StatusFault, HttpRow>> = {
  "empty-202": both("29", violation(0)),
  "empty-204": both("29", violation(0)),
  "empty-200": both("29", violation(0)),
  "html-200": both("29", violation(0)),
  "plain-200": both("29", violation(1)),
  "no-type": both("29", violation(1)),
  "http-400": both("22", refused("HttpStatusError")),
  "http-401": both("24", refused("UnauthorizedError")),
  "http-403": both("25", refused("UnauthorizedError")),
  "http-404": lost("20", refused("HttpStatusError")),
  "http-405": both("22", refused("HttpStatusError")),
  "http-413": both("22", refused("HttpStatusError")),
  "http-431": both("22", refused("HttpStatusError")),
  "http-500": both("19", unknown(0)),
  "http-502": both("19", unknown(0)),
  "http-504": both("19", unknown(0)),
  "http-401-challenge": both("24", refused("UnauthorizedError")),
  "http-403-scope": both("25", refused("UnauthorizedError")),
  "http-400-empty": both("22", refused("HttpStatusError")),
  // Certainly not run: the tools are listed again, and the call is sent once more. A handshake server has no such headers.
  "http-400-header-mismatch": {
    f: "22",
    modern: refused("HeaderMismatchError", { sent: 2 }),
    legacy: refused("HeaderMismatchError"),
  },
  "http-400-missing-capability": both("22", refused("MissingCapabilityError")),
  "http-400-unsupported-version": both("22", refused("UnsupportedVersionError")),
  "http-400-invalid-params": both("22", refused("InvalidParamsError")),
  "http-404-method-not-found": lost("21", refused("MethodNotFoundError")),
  "http-404-session": lost("20", refused("RpcError")),
  "rpc-200-error": both("21", refused("RpcError")),
  ...retryRows(429, (after) => notSent("HttpStatusError", { sent: 3, after })),
  ...retryRows(503, () => unknown(0)),
  ...redirectRows(301, false),
  ...redirectRows(302, false),
  ...redirectRows(303, false),
  ...redirectRows(307, true),
  ...redirectRows(308, true),
  "redirect-without-location": both("26", refused("RedirectRefusedError")),
  "bad-session-id": badSession(),
  "huge-session-id": badSession(),
};

function both(f: string, outcome: Outcome): HttpRow {
  return { f, modern: outcome, legacy: outcome };
}

/** Legacy: a 404 means that the session is gone; a new one is opened once, and the call is sent once more. */
function lost(f: string, modern: Outcome): HttpRow {
  return { f, modern, legacy: notSent("SessionLostError", { sent: 2 }) };
}

type Retries<Code extends 429 | 503> = Extract<StatusFault, `http-${Code}-${string}`>;

/** 429 is sent again after what the server asks for, 0 to 60 s; what cannot be read counts as not said. */
function retryRows<Code extends 429 | 503>(
  code: Code,
  outcome: (after: number) => Outcome,
): Record<Retries<Code>, HttpRow> {
  const own = 250 + 500;
  const waits = { none: own, 0: 0, 1: 2_000, negative: 0, huge: 120_000, date: 4_000, past: 0, garbage: own };
  const rows = Object.entries(waits).map(([name, after]) => [`http-${code}-${name}`, both("18", outcome(after))]);
  return Object.fromEntries(rows) as Record<Retries<Code>, HttpRow>; // the names are those of the type, written out
}

type Redirects<Code extends RedirectStatus> = Extract<StatusFault, `redirect-${Code}-${string}`>;

/** Only 307 and 308 keep the method and the body; they are followed at the same origin, three times at most. */
function redirectRows<Code extends RedirectStatus>(code: Code, followed: boolean): Record<Redirects<Code>, HttpRow> {
  const no = refused("RedirectRefusedError");
  const rows = {
    [`redirect-${code}-same`]: both("26", followed ? right : no),
    [`redirect-${code}-other`]: both("26", no),
    [`redirect-${code}-loop`]: both("26", followed ? { ...no, sent: 4 } : no),
  };
  return rows as Record<Redirects<Code>, HttpRow>; // the names are those of the type, written out
}

/** It breaks `initialize`. */
function badSession(): HttpRow {
  return { f: "20", modern: { none: "there are no sessions in 2026-07-28" }, legacy: { see: "connect_test.ts" } };
}
