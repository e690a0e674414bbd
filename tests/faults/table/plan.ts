/**
 * The 48 faults of the plan: what each is, and where it is proved when it is not a row of the matrix.
 *
 * @module
 */

/** One fault of the plan. */
export interface Planned {
  readonly title: string;
  /** Where it is proved beside the matrix, or why it is not. */
  readonly elsewhere?: string;
}

const auth =
  "tests/auth/races/one_process_test.ts and ahead_test.ts: the token is renewed, and the call goes on; without `auth` a 401 or 403 ends the call at once (F24)";
const leaves = "tests/runner/leaving_test.ts and tests/runner/tools_test.ts";
const storage = "tests/runner/access/closed_test.ts: what cannot be found out or kept is 503, and nothing is done";
const egress = "tests/egress/guarded_fetch_test.ts and tests/egress/address_test.ts, with a resolver of the test's own";

/** By number. */
export const plan: Readonly<Record<number, Planned>> = {
  1: { title: "connection refused, host unknown" },
  2: { title: "bad TLS certificate" },
  3: { title: "the reply's head, or any answer, never comes" },
  4: { title: "comments for ever" },
  5: { title: "the connection breaks before any byte" },
  6: { title: "the stream breaks, no event id" },
  7: { title: "the stream breaks after an event id" },
  8: { title: "a clean end without an answer" },
  9: { title: "half-open connection, silence" },
  10: { title: "a truncated event, body or line" },
  11: { title: "malformed JSON, malformed HTTP" },
  12: { title: "wrong, unknown, null or missing id; noise" },
  13: { title: "an answer on another's stream" },
  14: { title: "the answer twice" },
  15: { title: "result and error both, neither; malformed results" },
  16: { title: "endless lines, events, bodies; compressed bombs" },
  17: { title: "depth and node bombs" },
  18: { title: "429 and 503 with every kind of Retry-After" },
  19: { title: "500, 502, 504" },
  20: { title: "the session is gone (404); bad session ids" },
  21: { title: "404 with -32601 in its body; errors of the server's own" },
  22: { title: "400 and other refusals, with and without a modern error" },
  23: { title: "401 in mid-session", elsewhere: auth },
  24: { title: "401 that stays" },
  25: { title: "403 insufficient_scope" },
  26: { title: "redirects" },
  27: { title: "redirects and metadata that lead to a private address", elsewhere: egress },
  28: { title: "DNS rebinding", elsewhere: egress },
  29: { title: "wrong content type, HTML, empty replies" },
  30: { title: "requests of the server in the reply" },
  31: { title: "streams that close again and again, retry: 0 and 1e11" },
  32: { title: "progress: floods, backwards, of others" },
  33: { title: "list_changed floods" },
  34: { title: "pages without an end, odd cursors, odd lists" },
  35: { title: "input rounds without an end, huge states" },
  36: { title: "the caller aborts" },
  37: { title: "abort and answer at once" },
  38: { title: "the process is killed, or ends, in mid-call" },
  39: { title: "the process ends, a grandchild holds its output" },
  40: { title: "the process closes its output and lives" },
  41: { title: "the process reads no more" },
  42: { title: "the process ignores SIGTERM, and has children" },
  43: { title: "a flood on standard error" },
  44: { title: "a program that cannot be started, ends at once, or greets" },
  45: { title: "a write after the end" },
  46: { title: "the client of the runner leaves in mid-call", elsewhere: leaves },
  47: { title: "storage that fails", elsewhere: storage },
  48: { title: "the wall clock jumps, timers are late" },
};
