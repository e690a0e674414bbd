/**
 * The server's side: spans and durations of what is served.
 *
 * @module
 */
import { isSpanContextValid, SpanKind, trace } from "@opentelemetry/api";
import type { Link } from "@opentelemetry/api";
import type { JsonObject } from "../protocol/json_rpc.ts";
import type { CacheHints, Implementation, ServerCapabilities, Tool } from "../protocol/types.ts";
import { EraSignal } from "../server/common/era_signal.ts";
import type { RequestContext } from "../server/definitions.ts";
import type { Methods, ServerChange, TaskTerms } from "../server/seam.ts";
import type { Servable } from "../server/serving.ts";
import { attempt } from "../egress/attempt.ts";
import { answered, cancelled, describe, describePlace, type Outcome, outcomeOf, servedFailure } from "./attributes.ts";
import type { Context, OpenTelemetryOptions, TransportName } from "./options.ts";
import { activeContext, read, within } from "./propagation.ts";
import { type Beginning, Durations, type Operation, Recorder } from "./recorder.ts";
import { isPromise } from "../protocol/promise.ts";

/** Options of {@linkcode traceServer}. */
export interface ServerTelemetryOptions extends OpenTelemetryOptions {
  /** How messages travel: tells `network.…`. */
  transport?: TransportName | undefined;
  /**
   * What becomes of the context that a client sends: its span is the parent (`parent`), it is linked and the trace is ours
   * (`link`: for clients that must not choose what is sampled), or nothing (`ignore`).
   */
  incoming?: "parent" | "link" | "ignore" | undefined;
}

/** What a server can be asked, apart from what its eras answer themselves. Strangers could make up more names. */
const known: readonly string[] = [
  "tools/list",
  "tools/call",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "resources/directory/read",
  "prompts/list",
  "prompts/get",
  "completion/complete",
  "skills/list",
  "skills/get",
];

/**
 * Records every request that reaches what a server offers, by OpenTelemetry's conventions for MCP: a span of kind SERVER,
 * which is active while the handler runs, below the client's span that came in `_meta` (SEP-414), and its duration in the
 * histogram `mcp.server.operation.duration`.
 *
 * The handshake, pings, subscriptions and what is refused before (malformed, not signed in) run beside it. Each round of a
 * call that asks for input is a request and a span of its own. A request that is called off ends with the call, also when its
 * handler goes on. Names of tools and prompts that the server has not are not recorded.
 *
 * @param server What is served: an `McpServer`, a `ToolServer`, what `withSkills` or this function gave.
 * @returns What is to be served in its place.
 *
 * @example Record what a server does
 * ```ts
 * import { createHandler, McpServer } from "@causeway/mcp/server";
 * import { traceServer } from "@causeway/mcp/otel";
 *
 * const server = new McpServer({ name: "sums", version: "1.0.0" });
 * server.tool("pi", {}, () => 3.14);
 * const handler = createHandler(traceServer(server, { transport: "http" }));
 * handler.close();
 * ```
 */
export function traceServer(server: Servable, options: ServerTelemetryOptions = {}): Servable {
  return { methods: new TracedMethods(server.methods, options) };
}

/** The methods of a server, recorded. */
class TracedMethods implements Methods {
  readonly #methods: Methods;
  readonly #options: ServerTelemetryOptions;
  readonly #recorder: Recorder;

  constructor(methods: Methods, options: ServerTelemetryOptions) {
    const name = "mcp.server.operation.duration";
    const durations = new Durations(options.meterProvider, name, "The duration of a request to a server");
    this.#methods = methods;
    this.#options = options;
    this.#recorder = new Recorder(options, durations, describePlace(undefined, options.transport));
  }

  get info(): Implementation {
    return this.#methods.info;
  }

  get instructions(): string | undefined {
    return this.#methods.instructions;
  }

  get cache(): CacheHints {
    return this.#methods.cache;
  }

  capabilities(): ServerCapabilities {
    return this.#methods.capabilities();
  }

  tool(name: string): Tool | undefined {
    return this.#methods.tool(name);
  }

  task(name: string): TaskTerms | undefined {
    return this.#methods.task?.(name);
  }

  watch(listener: (change: ServerChange) => void): () => void {
    return this.#methods.watch(listener);
  }

  run(method: string, params: JsonObject, context: RequestContext): JsonObject | Promise<JsonObject> | undefined {
    if (!known.includes(method)) return this.#methods.run(method, params, context);
    const served = new Served(this.#recorder, this.#begin(method, params, context), context);
    served.operation.content("arguments", params.arguments);
    const promptName = method === "prompts/get" ? describe(method, params).target : undefined;
    try {
      const running = within(served.operation.context, () => this.#methods.run(method, params, context));
      if (!isPromise(running)) {
        served.answered(running, promptName);
        return running;
      }
      return running.then((result) => {
        served.answered(result, promptName);
        return result;
      }, (error: unknown) => {
        served.failed(error);
        throw error;
      });
    } catch (error) {
      served.failed(error);
      throw error;
    }
  }

  #begin(method: string, params: JsonObject, { meta, revision }: RequestContext): Beginning {
    const { incoming = "parent", propagator } = this.#options;
    const { name } = params;
    const isKnown = method === "tools/call" && typeof name === "string" && this.#methods.tool(name) !== undefined;
    const described = describe(method, params, isKnown);
    described.attributes["mcp.protocol.version"] = revision;
    const ambient = activeContext();
    const sent = incoming === "ignore" ? ambient : read(ambient, meta, propagator);
    const parent = incoming === "parent" ? sent : ambient;
    // The other one of both, where there are two: of the HTTP request, or of the client.
    const links = linkTo(incoming === "parent" ? ambient : sent, parent);
    return { described, kind: SpanKind.SERVER, parent, links };
  }
}

/** One request under way. Its span ends with it, or with the caller who gives up. */
class Served {
  readonly operation: Operation;
  readonly #signal: AbortSignal;
  readonly #stopped = (): void => this.operation.end(cancelled(this.#signal.reason));

  constructor(recorder: Recorder, beginning: Beginning, context: RequestContext) {
    this.operation = recorder.begin(beginning);
    this.#signal = context.signal;
    if (this.#signal.aborted) this.#stopped();
    else this.#signal.addEventListener("abort", this.#stopped, { once: true });
  }

  /** Ends it with a result; without one the era answers that there is no such method. */
  answered(result: JsonObject | undefined, promptName: string | undefined): void {
    if (!result) return this.#end(answered(-32601));
    if (result.isError !== true) this.operation.content("result", result);
    const more: Record<string, string> = promptName === undefined ? {} : { "gen_ai.prompt.name": promptName };
    this.#end(outcomeOf(result), more, promptName === undefined ? undefined : `prompts/get ${promptName}`);
  }

  /** Ends it with an error; a question to the client is none. */
  failed(error: unknown): void {
    this.#end(error instanceof EraSignal ? { attributes: {} } : servedFailure(error));
  }

  #end(outcome: Outcome, more?: Record<string, string>, name?: string): void {
    this.#signal.removeEventListener("abort", this.#stopped);
    this.operation.end(outcome, more, name);
  }
}

function linkTo(from: Context, parent: Context): Link[] {
  const span = attempt(() => trace.getSpanContext(from));
  const isOther = span && isSpanContextValid(span) && span.spanId !== trace.getSpanContext(parent)?.spanId;
  return isOther ? [{ context: span }] : [];
}
