/**
 * What a handler gets to do with a legacy client.
 *
 * @module
 */
import { randomHex } from "../../ports.ts";
import type { Clock, Random } from "../../ports.ts";
import { isObject, isRequestId } from "../../protocol/json_rpc.ts";
import type { JsonObject, JsonValue } from "../../protocol/json_rpc.ts";
import type { CreateMessageRequest, ElicitRequest, LoggingLevel, Progress } from "../../protocol/types.ts";
import type { RequestContext } from "../definitions.ts";
import type { Incoming } from "../seam.ts";
import type { Asks } from "./asks.ts";
import { canAsk, demand } from "./client_side.ts";
import type { ClientSide } from "./client_side.ts";
import { ProgressMeter } from "../common/progress.ts";
import { dressElicit, dressSample, readElicit, readRoots, readSample } from "./questions.ts";

/** What a context is made of. */
export interface ContextParts {
  readonly incoming: Incoming;
  /** Aborted when the request was called off. */
  readonly signal: AbortSignal;
  readonly client: ClientSide;
  readonly asks: Asks;
  readonly clock: Clock;
  readonly random: Random;
  /** Whether the client wants log messages of a level. */
  wants(level: LoggingLevel): boolean;
}

/** A context, and what ends it. */
export interface LiveContext {
  readonly context: RequestContext;
  /** Nothing is told or asked any more. `flush`: progress that waits is told first. */
  end(flush: boolean): void;
}

/** Makes the context of one request. Its functions need no `this`. */
export function createContext(parts: ContextParts): LiveContext {
  const { incoming, signal, client } = parts;
  const { params } = incoming.message;
  const meta = isObject(params?._meta) ? params._meta as JsonObject : {};
  const meter = createMeter(parts, meta.progressToken);
  let over = false;
  const log = (level: LoggingLevel, data: JsonValue, logger?: string): void => {
    if (over || signal.aborted || !parts.wants(level)) return;
    const message = { level, ...(logger !== undefined && { logger }), data };
    incoming.notify({ jsonrpc: "2.0", method: "notifications/message", params: message });
  };
  return {
    context: {
      signal,
      auth: incoming.auth,
      client: client.info,
      era: "legacy",
      revision: client.revision,
      meta,
      progress: (progress) => meter?.tell(progress),
      log,
      ...createQuestions(parts, () => over),
      can: (what) => canAsk(client, what),
    },
    end(flush) {
      if (over) return;
      meter?.end(flush);
      over = true;
      parts.asks.callOff(incoming, signal.aborted ? signal.reason : new Error("The request is answered already"));
    },
  };
}

function createMeter({ incoming, client, clock }: ContextParts, token: unknown): ProgressMeter | undefined {
  if (!isRequestId(token)) return undefined;
  const speaks = client.revision >= "2025-03-26";
  return new ProgressMeter(clock, ({ progress, total, message }: Progress) =>
    incoming.notify({
      jsonrpc: "2.0",
      method: "notifications/progress",
      params: {
        progressToken: token,
        progress,
        ...(total !== undefined && { total }),
        ...(message !== undefined && speaks && { message }),
      },
    }));
}

function createQuestions(
  { incoming, signal, client, asks, random }: ContextParts,
  isOver: () => boolean,
): Pick<RequestContext, "elicit" | "sample" | "roots"> {
  const ask = (method: string, params?: JsonObject): Promise<JsonObject> => {
    signal.throwIfAborted();
    if (isOver()) throw new TypeError(`Cannot ask "${method}": the request is answered already`);
    return asks.ask(method, params, incoming);
  };
  const makeId = (): string => randomHex(random, 16);
  return {
    elicit: (request: ElicitRequest) =>
      forgivable(async () => {
        demand(client, request.mode === "url" ? "elicitUrl" : "elicit");
        return readElicit(await ask("elicitation/create", dressElicit(request, client.revision, makeId)), request);
      }),
    sample: (request: CreateMessageRequest) =>
      forgivable(async () => {
        demand(client, request.tools || request.toolChoice ? "sampleWithTools" : "sample");
        return readSample(await ask("sampling/createMessage", dressSample(request, client)));
      }),
    roots: () =>
      forgivable(async () => {
        demand(client, "roots");
        return readRoots(await ask("roots/list"));
      }),
  };
}

/** A handler that left without waiting for its question must not end the process when the client fails it. */
function forgivable<Value>(run: () => Promise<Value>): Promise<Value> {
  const running = run();
  running.catch(() => {});
  return running;
}
