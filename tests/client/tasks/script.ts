/**
 * A server of the tasks extension that says what a test tells it to.
 *
 * @module
 */
import { connect, taskSupport } from "../../../mod.ts";
import type { Client, JsonObject } from "../../../mod.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";

type Options = NonNullable<Parameters<typeof connect>[1]>;
/** What the server says to a method: a result, or a JSON-RPC error or a whole reply to throw. `count` begins at 0. */
export type Script = Record<string, (params: JsonObject, count: number) => JsonObject | Promise<JsonObject>>;

/** Thrown by a script: a JSON-RPC error. */
export class Refusal extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Thrown by a script: the server is not to be had. */
export const away: Error = new Error("away");

/** A client, its server, and what came over the wire. */
export interface Setup {
  readonly clock: VirtualClock;
  readonly client: Client;
  readonly counts: Map<string, number>;
  /** When each request of a method came. */
  at(method: string): number[];
  /** The parameters of each request of a method, without `_meta`. */
  params(method: string): JsonObject[];
}

/** A modern server that says what it is told to. */
export async function scripted(script: Script, options: Options = {}): Promise<Setup> {
  const clock = new VirtualClock();
  const counts = new Map<string, number>();
  const seen: { method: string; at: number; params: JsonObject }[] = [];
  const all: Script = {
    "server/discover": () => ({ supportedVersions: ["2026-07-28"], capabilities: { tools: {} } }),
    "tools/call": () => task({ resultType: "task" }),
    ...script,
  };
  const client = await connect("http://server.test/mcp", {
    clock,
    tasks: taskSupport,
    fetch: async (target, init) => {
      const message = await new Request(target, init).json() as { id: string; method: string; params: JsonObject };
      const { id, method, params } = message;
      const { _meta, ...rest } = params;
      const count = counts.get(method) ?? 0;
      counts.set(method, count + 1);
      seen.push({ method, at: clock.monotonic(), params: rest });
      let body: JsonObject;
      try {
        const answer = all[method];
        if (!answer) throw new Refusal(-32601, `no ${method}`);
        body = { result: { resultType: "complete", ...await answer(rest, count) } };
      } catch (error) {
        if (error instanceof Response) return error;
        if (error === away) return new Response("", { status: 503 });
        if (!(error instanceof Refusal)) throw error;
        body = { error: { code: error.code, message: error.message } };
      }
      return Response.json({ jsonrpc: "2.0", id, ...body });
    },
    ...options,
  });
  const of = (method: string) => seen.filter((request) => request.method === method);
  return {
    clock,
    client,
    counts,
    at: (method) => of(method).map(({ at }) => at),
    params: (method) => of(method).map(({ params }) => params),
  };
}

/** A task of the extension. */
export function task(more: JsonObject = {}): JsonObject {
  const createdAt = "2026-07-28T00:00:00Z";
  return { taskId: "t1", status: "working", createdAt, lastUpdatedAt: createdAt, ttlMs: null, ...more };
}

/** One that has its result. */
export const done = (more: JsonObject = {}): JsonObject =>
  task({ status: "completed", result: { content: [] }, ...more });
/** One that waits for the user, once for each key. */
export const asks = (...keys: string[]): JsonObject =>
  task({
    status: "input_required",
    inputRequests: Object.fromEntries(keys.map((key) => [key, {
      method: "elicitation/create",
      params: { mode: "form", message: key, requestedSchema: { type: "object", properties: {} } },
    }])),
  });
