/**
 * What the handler of a legacy task is given.
 *
 * @module
 */
import { randomHex } from "../../ports.ts";
import { isRequestId } from "../../protocol/json_rpc.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { RequestContext } from "../definitions.ts";
import { demand } from "../legacy/client_side.ts";
import { ProgressMeter } from "../common/progress.ts";
import { dressElicit, dressSample, readElicit, readRoots, readSample } from "../legacy/questions.ts";
import type { LegacyTaskCall, ServerParts } from "../seam.ts";
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
  const ask = <Reply>(method: string, params: JsonObject, read: (answer: JsonObject) => Reply): Promise<Reply> => {
    const asked = run.ask(method, { method, params }, (answer) => read(answer as JsonObject));
    asked.catch(() => {});
    return asked;
  };
  return {
    signal: run.signal,
    auth: context.auth,
    client: context.client,
    era: context.era,
    revision: context.revision,
    meta: context.meta,
    progress: (progress) => {
      if (!run.over) meter?.tell(progress);
    },
    log: (level, data, logger) => {
      if (run.over || !wants(level)) return;
      const params = { level, ...(logger !== undefined && { logger }), data, _meta: related };
      tell({ jsonrpc: "2.0", method: "notifications/message", params });
    },
    elicit: async (request) => {
      demand(client, request.mode === "url" ? "elicitUrl" : "elicit");
      const params = dressElicit(request, client.revision, makeId);
      return await ask("elicitation/create", params, (answer) => readElicit(answer, request));
    },
    sample: async (request) => {
      demand(client, request.tools || request.toolChoice ? "sampleWithTools" : "sample");
      return await ask("sampling/createMessage", dressSample(request, client), readSample);
    },
    roots: async () => {
      demand(client, "roots");
      return await ask("roots/list", {}, readRoots);
    },
    can: context.can,
    continueAsTask: () => Promise.resolve(),
  };
}
