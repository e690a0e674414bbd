/**
 * What `connect` comes to when its own first requests are spoilt: `server/discover`, `initialize` and
 * `notifications/initialized`.
 *
 * @module
 */
import type { FaultName } from "../../servers/hostile.ts";
import { limit, notSent, type Outcome, refused, timeout, violation } from "./row.ts";

/** Faults that come to the same, and what that is. */
export interface ConnectRow {
  readonly faults: readonly FaultName[];
  readonly discover: Outcome;
  /** The same as with `server/discover`, when it is not given. */
  readonly initialize?: Outcome;
}

const closed: Outcome = { ends: "ConnectionClosedError", delivery: "unknown", ran: 0 };
const status: Outcome = { ends: "HttpStatusError", delivery: "unknown", ran: 0 };
/** Three attempts, after half of 200 and half of 400 ms. */
const thrice = { sent: 3, after: 300 } as const;
/** The healthy server behind the fault is modern: as a handshake server it refuses. */
const noHandshake: Outcome = refused("UnsupportedVersionError");

/** All rows. An outage is no evidence of an era; only an answer is. */
export const connectRows: readonly ConnectRow[] = [
  {
    faults: ["bad-json", "bad-json-body", "wrong-id", "wrong-id-body", "null-id", "no-id", "no-jsonrpc"],
    discover: violation(0),
  },
  {
    faults: ["result-and-error", "neither", "result-not-object", "error-not-object", "error-without-code", "batch"],
    discover: violation(0),
  },
  {
    faults: ["text-message", "empty-object", "answer-of-another", "truncated-json"],
    discover: violation(0),
  },
  { faults: ["empty-202", "empty-204", "empty-200", "html-200", "plain-200", "no-type"], discover: violation(0) },
  {
    faults: ["ends-without-answer", "ends-after-progress", "empty-stream", "truncated-event", "network-error"],
    discover: { ...closed, ...thrice },
  },
  { faults: ["breaks-at-once", "breaks-mid-event"], discover: { ...closed, ...thrice } },
  { faults: ["headers-never", "stalls", "drip"], discover: timeout("start", 30_000) },
  {
    faults: ["endless-line", "endless-event", "endless-json", "huge-json", "huge-event", "gzip-bomb"],
    discover: limit("messageBytes"),
  },
  { faults: ["endless-comments", "endless-messages"], discover: limit("streamBytes") },
  {
    faults: ["error-body-huge", "error-body-endless", "http-500", "http-502", "http-504"],
    discover: { ...status, ...thrice },
  },
  { faults: ["http-503-1"], discover: { ...status, sent: 3, after: 2_000 } },
  { faults: ["http-429-date"], discover: notSent("HttpStatusError", { sent: 3, after: 4_000 }) },
  // 60 s (clamped) is more than the 30 s that connecting may take: it is told at once.
  { faults: ["http-429-huge"], discover: notSent("HttpStatusError") },
  { faults: ["http-503-huge"], discover: status },
  {
    faults: ["http-401", "http-401-challenge", "http-403", "http-403-scope"],
    discover: refused("UnauthorizedError"),
  },
  {
    faults: ["redirect-301-same", "redirect-302-other", "redirect-307-other", "redirect-without-location"],
    discover: refused("RedirectRefusedError"),
  },
  {
    faults: ["http-400", "http-404", "http-405", "http-413"],
    discover: noHandshake,
    initialize: refused("HttpStatusError"),
  },
  { faults: ["rpc-200-error"], discover: noHandshake, initialize: refused("RpcError") },
  { faults: ["error-without-id"], discover: noHandshake, initialize: refused("InternalError") },
];

/** A notice that is not taken is no reason to give up: what is really wrong shows in the next request. */
export const noticeFaults: readonly FaultName[] = [
  "headers-never",
  "network-error",
  "breaks-at-once",
  "stalls",
  "http-400",
  "http-500",
  "error-body-endless",
  "html-200",
  "endless-json",
  "redirect-301-same",
];

/** Session ids that cannot be sent back. */
export const sessionFaults: readonly FaultName[] = ["bad-session-id", "huge-session-id"];
