/**
 * What a client does, told as plain data, and its place in a distributed trace. The names of attributes are those of
 * OpenTelemetry's conventions for MCP; nothing of OpenTelemetry is needed.
 *
 * @module
 */
import { attempt } from "../../egress/attempt.ts";
import { McpError, RpcError, TimeoutError } from "../../protocol/errors.ts";
import type { McpErrorCode } from "../../protocol/errors.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import { systemClock, systemRandom } from "../../ports.ts";
import type { Clock, Random } from "../../ports.ts";
import type { Middleware } from "../options.ts";
import type { ClientRequest } from "../session/request.ts";
import { childTrace, traceOf } from "./trace_context.ts";
import type { RequestTrace, TraceContext } from "./trace_context.ts";

export type { RequestTrace, TraceContext } from "./trace_context.ts";

/**
 * How far a request that failed had come: the connection was not there (`connect`), nobody was signed in (`authorize`), it
 * was not let out (`send`), no answer came (`wait`), the answer was an error or unusable (`answer`), it needs a person
 * (`input`), or the caller gave up (`abort`).
 */
export type ErrorPhase = "connect" | "authorize" | "send" | "wait" | "answer" | "input" | "abort";

/** One thing that happened. */
export interface TelemetryEvent {
  /** A tool that failed is a `response` with `isError`. */
  readonly type: "request" | "response" | "error";
  /** The JSON-RPC method. */
  readonly method: string;
  /** The tool's name, for `tools/call`. */
  readonly tool?: string | undefined;
  /** Since the request began; 0 for its beginning. Retries, input rounds and a connection that had to be made are in it. */
  readonly milliseconds: number;
  /** Whether it failed: an error, or a tool's result that says so. */
  readonly isError: boolean;
  /** The request's span: the same in both of its events. */
  readonly trace: RequestTrace;
  /** Attributes of a client span, in the words of OpenTelemetry. */
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  /** For errors: how far it had come. */
  readonly phase?: ErrorPhase | undefined;
  /** For errors: the class, without the message, which may quote what was sent. */
  readonly error?: { readonly name: string; readonly code?: string; readonly rpcCode?: number } | undefined;
  /** What `sanitize` made of the parameters, the result or the error. */
  readonly content?: unknown;
}

/** Options of the telemetry. */
export interface TelemetryOptions {
  /** Takes the events, as they happen. What it throws is dropped, as is what `trace` throws; a promise of it may reject. */
  onEvent: (event: TelemetryEvent) => void;
  /** The caller's own trace context, asked for at each request: its trace goes on. Without it each request is its own trace. */
  trace?: (() => TraceContext | undefined) | undefined;
  /** Sends the trace context as HTTP headers too (false): for gateways that do not read bodies. */
  headers?: boolean | undefined;
  /** Attributes on every event, such as `server.address`. */
  attributes?: Readonly<Record<string, string | number | boolean>> | undefined;
  /**
   * What may be told of parameters, results and error messages: goes into `content`. They hold what users type and what
   * tools find; without this nothing of them is told. When it throws, the event has no content.
   */
  sanitize?: ((content: JsonObject, event: Omit<TelemetryEvent, "content">) => unknown) | undefined;
  /** Time (the system's). */
  clock?: Clock | undefined;
  /** Chance, for ids (the system's). */
  random?: Random | undefined;
}

/**
 * Tells of every request, and hands the trace on to the server: `traceparent`, `tracestate` and `baggage` in `_meta`, with
 * a span id per request (SEP-414). A trace context in a request's own `meta` goes before `trace()`.
 *
 * As a middleware it sees requests: their parameters, results and errors. The first `server/discover` or `initialize`,
 * notifications and streams of changes run beside it; when the connection cannot be made, the request that wanted it ends in
 * an event with the phase `connect`. Retries and rounds of input belong to the one request that they serve.
 *
 * @example Print how long tools take
 * ```ts ignore with=example
 * import { connect, telemetry } from "@causeway/mcp";
 *
 * const watch = telemetry({ onEvent: ({ type, tool, milliseconds }) => console.log(type, tool, milliseconds) });
 * await using client = await connect("https://example.com/mcp", { middleware: [watch] });
 * ```
 */
export function telemetry(options: TelemetryOptions): Middleware {
  const { clock = systemClock, random = systemRandom, trace, headers } = options;
  return (next) => async (request) => {
    const { method, params, options: given } = request;
    const parent = traceOf(given.meta) ?? traceOf(params._meta as JsonObject | undefined) ??
      (trace && attempt(trace)) ?? {};
    const span = childTrace(parent, random);
    const startedAt = clock.monotonic();
    const tell = (type: TelemetryEvent["type"], more: Partial<TelemetryEvent>, content: JsonObject): void => {
      const tool = method === "tools/call" ? { tool: String(params.name) } : undefined;
      const milliseconds = type === "request" ? 0 : clock.monotonic() - startedAt;
      const attributes = { ...attributesOf(request, more), ...options.attributes };
      report(
        options,
        { type, method, ...tool, milliseconds, isError: false, trace: span, ...more, attributes },
        content,
      );
    };
    tell("request", {}, params);
    // What the parent had and the span has not (a trace state without a trace) must not travel on.
    const context = { tracestate: undefined, baggage: undefined, ...span.context };
    const meta = { ...given.meta, ...context };
    try {
      const result = await next({
        ...request,
        options: {
          ...given,
          meta,
          ...(headers && { headers: { ...given.headers, ...span.context } as Record<string, string> }),
        },
      });
      tell("response", { isError: result.isError === true }, result);
      return result;
    } catch (error) {
      tell("error", { isError: true, phase: phaseOf(error, method), error: nameOf(error) }, { message: String(error) });
      throw error;
    }
  };
}

/** How far a request had come when it failed with `error`, by the error's class. Anything but an `McpError` is an abort. */
export function phaseOf(error: unknown, method?: string): ErrorPhase {
  if (!(error instanceof McpError)) return "abort";
  const { code } = error;
  if (code.startsWith("auth") || code === "unauthorized") return "authorize";
  const opening = error.method === "initialize" || error.method === "server/discover";
  if (opening && error.method !== method || error instanceof TimeoutError && error.timeout === "start") {
    return "connect";
  }
  return phases[code] ?? ({ "not-sent": "send", answered: "answer", unknown: "wait" } as const)[error.delivery];
}

const phases: Readonly<Partial<Record<McpErrorCode, ErrorPhase>>> = {
  connect: "connect",
  spawn: "connect",
  session_lost: "connect",
  unsupported_version: "connect",
  http_status: "answer",
  protocol_violation: "answer",
  input_required: "input",
  url_elicitation_required: "input",
};

function report({ onEvent, sanitize }: TelemetryOptions, event: TelemetryEvent, content: JsonObject): void {
  const told = sanitize && attempt(() => sanitize(content, event));
  attempt(() => onEvent(told === undefined ? event : { ...event, content: told }));
}

function nameOf(error: unknown): TelemetryEvent["error"] {
  if (!(error instanceof Error)) return { name: typeof error };
  const { name } = error;
  if (!(error instanceof McpError)) return { name };
  return { name, code: error.code, ...(error instanceof RpcError && { rpcCode: error.rpcCode }) };
}

function attributesOf({ method, params }: ClientRequest, event: Partial<TelemetryEvent>): Record<string, string> {
  const attributes: Record<string, string> = { "mcp.method.name": method, "rpc.system": "jsonrpc" };
  const { name } = params;
  if (method === "tools/call") {
    attributes["gen_ai.operation.name"] = "execute_tool";
    attributes["gen_ai.tool.name"] = String(name);
  } else if (method === "prompts/get") attributes["gen_ai.prompt.name"] = String(name);
  const { error, isError } = event;
  if (error?.rpcCode !== undefined) attributes["rpc.response.status_code"] = String(error.rpcCode);
  if (isError) attributes["error.type"] = error ? String(error.rpcCode ?? error.code ?? error.name) : "tool_error";
  return attributes;
}
