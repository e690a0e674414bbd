/**
 * What the handler of a legacy task is given.
 *
 * @module
 */
import { randomHex } from "../../ports.ts";
import { isRequestId } from "../../protocol/json_rpc.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { AskOptions, RequestContext } from "../definitions.ts";
import { forgivable } from "../common/forgivable.ts";
import { ProgressMeter } from "../common/progress.ts";
import { type Askable, demand } from "../legacy/client_side.ts";
import { dressElicit, dressSample, readElicit, readRoots, readSample } from "../legacy/questions.ts";
import type { LegacyTaskCall, ServerParts } from "../seam.ts";
import { keptOfCall } from "./call_context.ts";
import type { TaskRun } from "./run.ts";

/**
 * The context of a task: its questions go out while the client waits in `tasks/result`, what it tells goes on the
 * session's own stream, and all of it names the task (S-110).
 *
 * @param related The `_meta` that names it.
 */
export function legacyTaskContext(
  { context, capabilities, tell, wants }: LegacyTaskCall,
  run: TaskRun,
  parts: ServerParts,
  related: JsonObject,
): RequestContext {
  const client = { revision: context.revision, info: context.client, capabilities };
  const { progressToken } = context.meta;
  const meter = isRequestId(progressToken)
    ? new ProgressMeter(parts.clock, (progress) => {
      const params = { ...progress as unknown as JsonObject, progressToken, _meta: related };
      tell({ jsonrpc: "2.0", method: "notifications/progress", params });
    })
    : undefined;
  run.onEnd(() => meter?.end(true));
  const makeId = (): string => randomHex(parts.random, 16);
  const ask = async <Reply>(
    what: Askable,
    method: string,
    makeParams: () => JsonObject,
    read: (answer: JsonObject) => Reply,
    options: AskOptions | undefined,
  ): Promise<Reply> => {
    demand(client, what);
    const question = { method, params: makeParams() };
    return await run.ask(method, question, (answer) => read(answer as JsonObject), options?.signal);
  };
  return {
    ...keptOfCall(context),
    signal: run.signal,
    progress: (progress) => {
      if (!run.over) meter?.tell(progress);
    },
    log: (level, data, logger) => {
      if (run.over || !wants(level)) return;
      const params = { level, ...(logger !== undefined && { logger }), data, _meta: related };
      tell({ jsonrpc: "2.0", method: "notifications/message", params });
    },
    elicit: (request, options) =>
      forgivable(ask(
        request.mode === "url" ? "elicitUrl" : "elicit",
        "elicitation/create",
        () => dressElicit(request, client.revision, makeId),
        (answer) => readElicit(answer, request),
        options,
      )),
    sample: (request, options) =>
      forgivable(ask(
        request.tools || request.toolChoice ? "sampleWithTools" : "sample",
        "sampling/createMessage",
        () => dressSample(request, client),
        readSample,
        options,
      )),
    roots: (options) => forgivable(ask("roots", "roots/list", () => ({}), readRoots, options)),
    continueAsTask: () => Promise.resolve(),
  };
}
