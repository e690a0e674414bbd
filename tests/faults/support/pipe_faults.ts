/**
 * What can go wrong on a pipe that all requests share: the answer to a call, the order, the pipe itself. The same faults
 * serve the pipes in memory and the event stream of HTTP+SSE.
 *
 * @module
 */
import { type JsonObject, objectAt, type RequestId } from "../../servers/core/wire.ts";

/** What a fault on a pipe knows. */
export interface PipeContext {
  /** The request that is spoilt. */
  readonly request: JsonObject;
  readonly id: RequestId;
  /** How often the fault was given, this time included. */
  readonly attempt: number;
}

/** What comes instead of the answer: objects are messages, texts are lines as they are. */
type Spoil = (answer: JsonObject, context: PipeContext) => readonly unknown[];

/** A fault in the messages of a pipe. */
export type PipeMessage =
  | "bad-json"
  | "noise"
  | "wrong-id"
  | "string-id"
  | "list-id"
  | "null-id"
  | "no-id"
  | "answer-of-another"
  | "no-jsonrpc"
  | "result-and-error"
  | "neither"
  | "result-not-object"
  | "error-not-object"
  | "error-without-code"
  | "error-without-id"
  | "batch"
  | "text-message"
  | "empty-object"
  | "unknown-result-type"
  | "malformed-result"
  | "duplicate-answer"
  | "second-answer-differs"
  | "server-request"
  | "server-ping"
  | "unknown-notification"
  | "progress-flood"
  | "progress-backwards"
  | "progress-foreign-token"
  | "depth-bomb"
  | "node-bomb"
  | "silent"
  | "infinite-pages";

/** Faults in the messages of a pipe. The request is executed. */
export const pipeMessages: Readonly<Record<PipeMessage, Spoil>> = {
  "bad-json": (answer) => [JSON.stringify(answer).slice(0, -5)],
  "noise": (answer) => ["Listening on port 3000", answer],
  "wrong-id": (answer) => [{ ...answer, id: "nobody asked this" }],
  "string-id": (answer, { id }) => [{ ...answer, id: String(id) }],
  "list-id": (answer, { id }) => [{ ...answer, id: [id] }],
  "null-id": (answer) => [{ ...answer, id: null }],
  "no-id": (answer) => [{ ...answer, id: undefined }],
  "answer-of-another": (answer) => [{ ...answer, id: "of another call" }, answer],
  "no-jsonrpc": (answer) => [{ ...answer, jsonrpc: undefined }],
  "result-and-error": (answer) => [{ ...answer, error: broken }],
  "neither": (_answer, { id }) => [{ jsonrpc: "2.0", id }],
  "result-not-object": (answer) => [{ ...answer, result: [1, 2, 3] }],
  "error-not-object": (_answer, { id }) => [{ jsonrpc: "2.0", id, error: "broken" }],
  "error-without-code": (_answer, { id }) => [{ jsonrpc: "2.0", id, error: { message: "broken" } }],
  "error-without-id": () => [{ jsonrpc: "2.0", error: broken }],
  "batch": (answer) => [[answer]],
  "text-message": () => ['"just words"'],
  "empty-object": () => [{}],
  "unknown-result-type": (answer) => [withResult(answer, { resultType: "perhaps" })],
  "malformed-result": (answer) => [withResult(answer, { content: "no array" })],
  "duplicate-answer": (answer) => [answer, answer],
  "second-answer-differs": (answer) => [answer, withResult(answer, { content: [{ type: "text", text: "second" }] })],
  "server-request": (answer) => [{ jsonrpc: "2.0", id: "asked", method: "roots/list" }, answer],
  "server-ping": (answer) => [{ jsonrpc: "2.0", id: "asked", method: "ping" }, answer],
  "unknown-notification": (answer) => [{ jsonrpc: "2.0", method: "notifications/from/the/future" }, answer],
  "progress-flood": (answer, context) => [
    ...Array.from({ length: 5_000 }, (_, index) => progress(tokenOf(context), index)),
    answer,
  ],
  "progress-backwards": (answer, context) => [
    ...[5, 4, 5, 6, 1, 7].map((value) => progress(tokenOf(context), value)),
    answer,
  ],
  "progress-foreign-token": (answer) => [progress("nobody's", 1), progress(987_654_321, 2), progress(null, 3), answer],
  "depth-bomb": (answer) => [withDepth(answer)],
  "node-bomb": (answer) => [withResult(answer, { structuredContent: Array.from({ length: 200_000 }, () => ({})) })],
  "silent": () => [],
  "infinite-pages": (_answer, { id, attempt }) => {
    const tools = [{ name: `page_${attempt}`, inputSchema: { type: "object" } }];
    const result = { resultType: "complete", ttlMs: 0, cacheScope: "private", tools, nextCursor: `cursor ${attempt}` };
    return [{ jsonrpc: "2.0", id, result }];
  },
};

/** Faults of the pipe itself. */
export type PipeBreak =
  /** It ends when the request came, before it is executed. */
  | "ends-before"
  /** It ends when the request was executed, before the answer. */
  | "ends-after"
  /** Writing throws. */
  | "write-throws"
  /** Writing rejects. */
  | "write-rejects"
  /** Nothing is taken any more: writing never ends. */
  | "stuck";

/** All faults of a pipe. */
export type PipeFault = PipeMessage | PipeBreak;

/** True for a fault in messages. */
export function isPipeMessage(fault: PipeFault): fault is PipeMessage {
  return Object.hasOwn(pipeMessages, fault);
}

const broken = { code: -32603, message: "broken" };

function withResult(answer: JsonObject, more: JsonObject): JsonObject {
  return { ...answer, result: { ...objectAt(answer, "result"), ...more } };
}

/** Written by hand: a thousand arrays in each other. */
function withDepth(answer: JsonObject): string {
  const whole = JSON.stringify(withResult(answer, { structuredContent: "deep" }));
  return whole.replace('"deep"', "[".repeat(1_000) + "]".repeat(1_000));
}

function progress(token: unknown, value: number): unknown {
  return { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: token, progress: value } };
}

function tokenOf({ request }: PipeContext): unknown {
  return objectAt(objectAt(request, "params"), "_meta").progressToken ?? 0;
}
