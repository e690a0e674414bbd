/**
 * Requests, places and failures in the words of OpenTelemetry's conventions for MCP.
 *
 * @module
 */
import type { Attributes } from "@opentelemetry/api";
import { McpError, RpcError } from "../protocol/errors.ts";
import { urlWithoutQuery } from "../protocol/excerpt.ts";
import type { JsonObject } from "../protocol/json_rpc.ts";
import { attempt } from "../egress/attempt.ts";
import type { TransportName } from "./options.ts";

/** Longer names are cut: a model may have made them up. */
const longestName = 128;
const longestUri = 1024;

/** A request, described. */
export interface Described {
  readonly method: string;
  /** The name of the tool or prompt. */
  readonly target: string | undefined;
  /** Of spans and measurements. */
  readonly attributes: Attributes;
  /** Of spans alone: what has too many values for a time series. */
  readonly spanAttributes: Attributes;
}

/**
 * Describes a request.
 *
 * @param isKnown Whether its tool or prompt is there: names that a stranger may make up are left out.
 */
export function describe(method: string, params: JsonObject, isKnown = true): Described {
  const attributes: Attributes = { "mcp.method.name": method };
  const isTool = method === "tools/call";
  if (isTool) attributes["gen_ai.operation.name"] = "execute_tool";
  const { name, uri } = params;
  const named = isKnown && (isTool || method === "prompts/get") && typeof name === "string";
  const target = named ? name.slice(0, longestName) : undefined;
  if (target !== undefined) attributes[isTool ? "gen_ai.tool.name" : "gen_ai.prompt.name"] = target;
  const spanAttributes: Attributes = method.startsWith("resources/") && typeof uri === "string"
    ? { "mcp.resource.uri": urlWithoutQuery(uri).slice(0, longestUri) }
    : {};
  return { method, target, attributes, spanAttributes };
}

/** What a span is called: few values, so never a URI. */
export function spanName({ method, target }: Described): string {
  return target === undefined ? method : `${method} ${target}`;
}

/** Where a server is, and how messages get there. */
export function describePlace(server: string | URL | undefined, transport: TransportName | undefined): Attributes {
  const url = server === undefined ? undefined : attempt(() => new URL(server));
  const secure = url?.protocol === "https:" || url?.protocol === "wss:";
  const how = transport ?? (url && (/^wss?:$/.test(url.protocol) ? "websocket" : "http"));
  return {
    ...(how && { "network.transport": how === "stdio" ? "pipe" : "tcp" }),
    ...(how && how !== "stdio" && { "network.protocol.name": how }),
    ...(url?.hostname && {
      "server.address": url.hostname.replace(/^\[(.*)\]$/, "$1"),
      "server.port": Number(url.port || (secure ? 443 : 80)),
    }),
  };
}

/** How a request ended. */
export interface Outcome {
  readonly attributes: Attributes;
  /** What failed, for `sanitize`. */
  readonly failure?: JsonObject | undefined;
}

/** How a request that was answered ended: a tool that failed has failed. */
export function outcomeOf(result: JsonObject): Outcome {
  return result.isError === true ? { attributes: { "error.type": "tool_error" }, failure: result } : { attributes: {} };
}

/** How a request that was called off ended. */
export function cancelled(reason: unknown): Outcome {
  const isTimeout = reason instanceof Error && reason.name === "TimeoutError";
  return { attributes: { "error.type": isTimeout ? "timeout" : "cancelled" } };
}

/** How a request of a client ended that was not answered with a result. */
export function failureOf(error: unknown, signal: AbortSignal | undefined): Outcome {
  if (signal?.aborted && error === signal.reason) return cancelled(error);
  const failure = { message: error instanceof Error ? error.message : String(error) };
  if (error instanceof RpcError) return { ...answered(error.rpcCode), failure };
  const type = error instanceof McpError ? error.code : error instanceof Error ? error.name : "_OTHER";
  return { attributes: { "error.type": type.slice(0, longestName) }, failure };
}

/** How a request ended that a server answers with an error. What is no error of the protocol is told to nobody but us. */
export function servedFailure(error: unknown): Outcome {
  const failure = { message: error instanceof Error ? error.message : String(error) };
  // What another server said, asked by a handler, is no answer of ours.
  const own = error instanceof RpcError && error.server === undefined && error.method === undefined;
  return { ...answered(own ? error.rpcCode : -32603), failure };
}

/** How a request ended that was answered with an error. */
export function answered(code: number): Outcome {
  return { attributes: { "error.type": String(code), "rpc.response.status_code": String(code) } };
}
