/**
 * The matrix over HTTP: faults in what is said.
 *
 * @module
 */
import type { MessageFault } from "../../servers/faults/messages.ts";
import { type HttpRow, type Outcome, refused, right, violation } from "./row.ts";

/** Rows of faults in the envelope, the order, the input rounds, the lists and the subscriptions. */
export const messageRows: Readonly<Record<MessageFault, HttpRow>> = {
  "bad-json": both("11", violation(1)),
  "bad-json-body": both("11", violation(1)),
  "wrong-id": both("12", violation(1)),
  "wrong-id-body": both("12", violation(1)),
  "string-id": both("12", right),
  "null-id": both("12", violation(1)),
  "no-id": both("12", violation(1)),
  "no-jsonrpc": both("15", violation(1)),
  "result-and-error": both("15", violation(1)),
  "neither": both("15", violation(1)),
  "result-not-object": both("15", violation(1)),
  "error-not-object": both("15", violation(1)),
  "error-without-code": both("15", violation(1)),
  "error-without-id": both("15", refused("InternalError", { ran: 1 })),
  "batch": both("15", violation(1)),
  "text-message": both("15", violation(1)),
  "empty-object": both("15", violation(1)),
  "unknown-result-type": { f: "15", modern: violation(1, "answered"), legacy: noResultType() },
  "result-type-not-text": { f: "15", modern: violation(1, "answered"), legacy: noResultType() },
  "malformed-result": both("15", violation(1, "answered")),
  "duplicate-answer": both("14", right),
  "second-answer-differs": both("14", right),
  "answer-of-another": both("13", violation(1)),
  "server-request": asked(),
  "server-ping": asked(),
  "unknown-notification": both("30", right),
  "progress-flood": { ...both("32", right), size: 5_000 },
  "progress-backwards": both("32", right),
  "progress-foreign-token": both("32", right),
  "task-undeclared": { f: "15", modern: violation(1, "answered"), legacy: noResultType() },
  "input-loop": noRounds(violation(0, "answered")),
  "input-changing": noRounds(violation(0, "answered")),
  "input-empty": noRounds(violation(0, "answered")),
  "input-state-huge": { ...noRounds(violation(0, "answered")), size: 1_000 },
  "input-undeclared": noRounds(violation(0, "answered")),
  "input-malformed": noRounds(violation(0, "answered")),
  "infinite-pages": both("34", pages(100)),
  "repeated-cursor": both("34", pages(100)),
  "empty-cursor": both("34", pages(2)),
  "cursor-not-text": both("34", violation(0, "answered")),
  "list-not-array": both("34", violation(0, "answered")),
  "duplicate-tools": both("34", pages(1)),
  "bad-tools": both("34", pages(1)),
  "many-tools": { ...both("34", pages(1)), size: 6_000 },
  "listen-closes": listening(),
  "listen-no-acknowledgement": listening(),
  "listen-flood": listening(),
};

function both(f: string, outcome: Outcome): HttpRow {
  return { f, modern: outcome, legacy: outcome };
}

/** A field that the handshake revisions do not have is passed on as it is. */
function noResultType(): Outcome {
  return right;
}

/** `input_required` is a result without content for a server of the handshake era. */
function noRounds(modern: Outcome): HttpRow {
  return { f: "35", modern, legacy: violation(0, "answered") };
}

/** A modern server may not ask: it gets no answer. A legacy one gets one, beside the call. */
function asked(): HttpRow {
  return { f: "30", modern: right, legacy: { ...right, answers: 1 } };
}

/** A list that is read to its end, or to the cap on pages. */
function pages(sent: number): Outcome {
  return { ends: "resolves", ran: 0, sent };
}

function listening(): HttpRow {
  return { f: "31", modern: { see: "reconnect_test.ts" }, legacy: { none: "subscriptions/listen is modern" } };
}
