/**
 * Calling a tool, with its progress.
 *
 * @module
 */
import { isObject } from "../../../../protocol/json_rpc.ts";
import type { JsonObject } from "../../../../protocol/json_rpc.ts";
import { ApiProblem, unreachable } from "../base/api.ts";
import type { Ask } from "../base/api.ts";
import { readEvents, readText } from "../base/stream.ts";
import type { CutText } from "../base/stream.ts";
import { parsed } from "../base/text.ts";

/** Bytes of a result that are read: a page that shows more stands still. */
const mostResult = 2_000_000;

/** A call. */
export interface ToolCall {
  readonly name: string;
  readonly given: JsonObject;
  /** The id of the approval, where it was given one. */
  readonly approval?: string | undefined;
  readonly signal: AbortSignal;
  /** Hears signs of progress. */
  progress(sign: JsonObject): void;
}

/** What came of a call: its result, or the beginning of one that is too long. */
export type CallOutcome = { readonly result: JsonObject } | { readonly cut: CutText };

/**
 * Calls a tool.
 *
 * @throws {ApiProblem} When there is no result. What broke off without an answer may have run.
 */
export async function callTool(ask: Ask, call: ToolCall): Promise<CallOutcome> {
  try {
    return await send(ask, call);
  } catch (error) {
    if (call.signal.aborted || (error instanceof ApiProblem && error.code !== "unreachable")) throw error;
    const detail = "The connection ended before the result";
    throw new ApiProblem(0, { code: "outcome_unknown", title: "Cut off", detail });
  }
}

async function send(ask: Ask, { name, given, approval, signal, progress }: ToolCall): Promise<CallOutcome> {
  const response = await ask(`/api/tools/${encodeURIComponent(name)}`, {
    method: "POST",
    body: given,
    headers: { accept: "text/event-stream", ...(approval !== undefined && { "causeway-approval": approval }) },
    signal,
  });
  if (!response.headers.get("content-type")?.startsWith("text/event-stream") || !response.body) {
    return outcomeOf(await readText(response.body, mostResult));
  }
  const found: { outcome?: CallOutcome; problem?: ApiProblem } = {};
  await readEvents(response.body, mostResult, ({ event, data, size }) => {
    const value = data === undefined ? undefined : parsed(data);
    const object = isObject(value) ? value : {};
    if (event === "progress") progress(object);
    else if (event === "result") {
      found.outcome = data === undefined ? { cut: { text: "", size, isCut: true } } : { result: object };
    } else if (event === "error") {
      found.problem = new ApiProblem(typeof object.status === "number" ? object.status : 0, object);
    }
  }).catch((error: unknown) => {
    if (!found.problem && !found.outcome) throw error;
  });
  if (found.problem) throw found.problem;
  if (found.outcome) return found.outcome;
  throw unreachable();
}

function outcomeOf(read: CutText): CallOutcome {
  const value = read.isCut ? undefined : parsed(read.text);
  return isObject(value) ? { result: value } : { cut: read };
}
