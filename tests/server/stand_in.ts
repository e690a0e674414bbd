/** A server without a catalog: what `McpServer` fills, as a test wants it. */
import type { RequestContext } from "../../src/server/definitions.ts";
import type { Methods, ServerChange } from "../../src/server/seam.ts";
import type { JsonObject } from "../../src/protocol/json_rpc.ts";
import type { ServerCapabilities } from "../../src/protocol/types.ts";

/** Answers one method. */
export type Handler = (params: JsonObject, context: RequestContext) => JsonObject | Promise<JsonObject>;

/** A stand-in, and how a test changes it. */
export interface StandIn {
  readonly methods: Methods;
  /** How many listen to changes. */
  readonly watchers: number;
  change(change: ServerChange): void;
}

/** Makes one. Without `capabilities` it has tools, prompts and resources. */
export function standIn(handlers: Record<string, Handler> = {}, capabilities?: ServerCapabilities): StandIn {
  const listeners = new Set<(change: ServerChange) => void>();
  return {
    get watchers() {
      return listeners.size;
    },
    change: (change) => listeners.forEach((listener) => listener(change)),
    methods: {
      info: { name: "stand-in", version: "1.2.3", title: "A Stand-in", websiteUrl: "https://stand.in/" },
      instructions: "Stand there",
      cache: {},
      capabilities: () => capabilities ?? { tools: {}, prompts: {}, resources: {}, completions: {} },
      run: (method, params, context) =>
        Object.hasOwn(handlers, method) ? (handlers[method] as Handler)(params, context) : undefined,
      tool: () => undefined,
      watch(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    },
  };
}

/** The result of a tool that says something. */
export function said(text: string): JsonObject {
  return { content: [{ type: "text", text }] };
}
