/**
 * What the tests of the modern era share: a small stand-in for the author's server, and a client that speaks by hand.
 *
 * @module
 */
import { defaultLimits, type Limits } from "../../../src/protocol/limits.ts";
import type { JsonObject, JsonRpcNotification, JsonValue, RequestId } from "../../../src/protocol/json_rpc.ts";
import type { CacheHints, ElicitRequest, ServerCapabilities } from "../../../src/protocol/types.ts";
import { type LogRecord, systemRandom } from "../../../src/ports.ts";
import type { AuthInfo, RequestContext } from "../../../src/server/definitions.ts";
import { createModern, type ModernOptions } from "../../../src/server/modern/mod.ts";
import type { Answer, Methods, ModernServing, ServerChange } from "../../../src/server/seam.ts";
import { createStateSealer } from "../../../src/server/state.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";

/** The prefix of the protocol's own keys in `_meta`. */
export const own = "io.modelcontextprotocol/";
/** What the stand-in says it is. */
export const info = { name: "stand-in", version: "1.0.0" };

/** What one method does. */
export type Run = (context: RequestContext, params: JsonObject) => JsonObject | Promise<JsonObject>;

/** What a test chooses. */
export interface Choices extends ModernOptions {
  capabilities?: ServerCapabilities;
  instructions?: string;
  cache?: CacheHints;
  secret?: string;
  limits?: Limits;
}

/** What one request brings beside its method. */
export interface Asking {
  params?: JsonObject;
  /** More of `_meta`; undefined values take a key away. */
  meta?: JsonObject;
  /** What the client can do. */
  can?: JsonObject;
  id?: RequestId;
  auth?: AuthInfo;
  signal?: AbortSignal;
}

/** A request on its way: what it has brought so far, and its answer. */
export interface Asked {
  readonly notices: JsonRpcNotification[];
  readonly answer: Promise<Answer | undefined>;
}

/** The modern era over a stand-in, with time by hand. */
export class Bench {
  readonly clock: VirtualClock = new VirtualClock();
  readonly logs: LogRecord[] = [];
  readonly watchers: Set<(change: ServerChange) => void> = new Set();
  readonly serving: ModernServing;
  /** How often the era began to watch. */
  watched = 0;

  constructor(runs: Record<string, Run> = {}, choices: Choices = {}) {
    const { capabilities = { tools: {}, resources: {}, prompts: {} }, instructions, cache = {}, secret } = choices;
    const methods: Methods = {
      info,
      instructions,
      cache,
      capabilities: () => capabilities,
      tool: () => undefined,
      run: (method, params, context) => {
        const run = Object.hasOwn(runs, method) ? runs[method] : undefined;
        return run && Promise.resolve().then(() => run(context, params));
      },
      watch: (listener) => {
        this.watched++;
        this.watchers.add(listener);
        return () => void this.watchers.delete(listener);
      },
    };
    const state = createStateSealer({ secret, clock: this.clock, random: systemRandom });
    this.serving = createModern({
      methods,
      clock: this.clock,
      random: systemRandom,
      limits: choices.limits ?? defaultLimits,
      logger: (record) => void this.logs.push(record),
      state: () => state,
    }, choices);
  }

  /** Something changed at the server. */
  change(change: ServerChange): void {
    for (const listener of [...this.watchers]) listener(change);
  }

  /** Sends a request as a well-behaved client would. */
  ask(method: string, { params, meta, can = {}, id = 1, auth, signal }: Asking = {}): Asked {
    const notices: JsonRpcNotification[] = [];
    const _meta = {
      [own + "protocolVersion"]: "2026-07-28",
      [own + "clientCapabilities"]: can,
      [own + "clientInfo"]: { name: "hand", version: "0" },
      ...meta,
    };
    const answer = this.serving.answer({
      // As it comes from the wire: what is undefined is not there.
      message: JSON.parse(JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta } })),
      signal: signal ?? new AbortController().signal,
      auth,
      notify: (notification) => void notices.push(JSON.parse(JSON.stringify(notification))),
    });
    return { notices, answer };
  }

  /** The result of a request; a test that meets an error fails with it. */
  async result(method: string, asking?: Asking): Promise<JsonObject> {
    const answer = await this.ask(method, asking).answer;
    if (answer?.response.result) return JSON.parse(JSON.stringify(answer.response.result));
    throw new Error(`Expected a result, got ${JSON.stringify(answer)}`);
  }

  /** The code, status and data of the error that a request is answered with. */
  async failure(
    method: string,
    asking?: Asking,
  ): Promise<{ code: number; status: number; data: unknown; message: string }> {
    const answer = await this.ask(method, asking).answer;
    if (!answer?.response.error) throw new Error(`Expected an error, got ${JSON.stringify(answer)}`);
    const { error: { code, data, message }, id } = answer.response;
    if (id !== (asking?.id ?? 1)) throw new Error("The error names another request");
    return { code, status: answer.status, data, message };
  }
}

/** A result of a tool: one text. */
export function text(value: JsonValue | undefined): JsonObject {
  return { content: [{ type: "text", text: typeof value === "string" ? value : JSON.stringify(value) ?? "" }] };
}

/** The text of such a result. */
export function textOf(result: JsonObject): string {
  const [block] = result.content as JsonObject[];
  return String(block?.text);
}

/** The object at a key; a test fails where there is none. */
export function at(value: JsonObject, key: string): JsonObject {
  const found = value[key];
  if (typeof found !== "object" || found === null || Array.isArray(found)) throw new Error(`No object at "${key}"`);
  return found;
}

/** The capabilities of a client that can be asked everything. */
export const all: JsonObject = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };

/** A form with one field that has to be filled in. */
export function form(message: string): ElicitRequest & { message: string } {
  return {
    message,
    requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
  };
}

/** The user's answer to it. */
export function named(name: string): JsonObject {
  return { action: "accept", content: { name } };
}

/** A question to a model. */
export const question: { messages: []; maxTokens: number } = { messages: [], maxTokens: 9 };

/** A server whose only tool does this, and gives what it returns as a text. */
export function tool(run: (context: RequestContext, params: JsonObject) => Promise<unknown>): Bench {
  return new Bench({ "tools/call": async (context, params) => text(await run(context, params) as string) });
}
