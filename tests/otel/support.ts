/** What the tests of telemetry share: the real SDK with its exporters in memory, and a client and a server joined in memory. */
import { AsyncLocalStorage } from "node:async_hooks";
import { type Context, type ContextManager, ROOT_CONTEXT } from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import { ChannelTransport, connect, createMemoryPair } from "../../mod.ts";
import type { Client } from "../../mod.ts";
import {
  type ClientTelemetryOptions,
  openTelemetry,
  type ServerTelemetryOptions,
  traceServer,
} from "../../src/otel/mod.ts";
import { createHandler, McpServer, serveChannel } from "../../src/server/mod.ts";
import { heldRequest } from "../support/held_request.ts";

export type Options = NonNullable<Parameters<typeof connect>[1]>;
export type Era = "modern" | "legacy";

/** Where the server is said to be. */
export const url = "https://server.test/mcp?key=hunter2";

/** A measurement, as it is exported. */
export interface Measured {
  readonly name: string;
  readonly unit: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly count: number;
  readonly sum: number | undefined;
  readonly boundaries: readonly number[];
}

/** The SDK, with all that it took. */
export class Sdk {
  readonly #exporter = new InMemorySpanExporter();
  readonly #metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  readonly #open = new Set<string>();
  readonly tracerProvider: BasicTracerProvider;
  readonly meterProvider: MeterProvider;

  constructor() {
    const open = this.#open;
    const watch = {
      onStart: (span: ReadableSpan) => void open.add(span.spanContext().spanId),
      onEnd: (span: ReadableSpan) => void open.delete(span.spanContext().spanId),
      forceFlush: () => Promise.resolve(),
      shutdown: () => Promise.resolve(),
    };
    this.tracerProvider = new BasicTracerProvider({
      spanProcessors: [watch, new SimpleSpanProcessor(this.#exporter)],
    });
    const reader = new PeriodicExportingMetricReader({ exporter: this.#metrics, exportIntervalMillis: 2 ** 30 });
    this.meterProvider = new MeterProvider({ readers: [reader] });
  }

  /** Both providers, as options. */
  get providers(): Pick<ClientTelemetryOptions, "tracerProvider" | "meterProvider"> {
    return { tracerProvider: this.tracerProvider, meterProvider: this.meterProvider };
  }

  /** The spans that ended, in the order of their ends. */
  get spans(): ReadableSpan[] {
    return this.#exporter.getFinishedSpans();
  }

  /** How many spans were begun and not ended. */
  get open(): number {
    return this.#open.size;
  }

  /** The spans of the name. */
  named(name: string): ReadableSpan[] {
    return this.spans.filter((span) => span.name === name);
  }

  /** All that was measured so far. */
  async measured(name: string): Promise<Measured[]> {
    this.#metrics.reset();
    await this.meterProvider.forceFlush();
    const found = this.#metrics.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics)
      .flatMap(({ metrics }) => metrics).filter(({ descriptor }) => descriptor.name === name);
    return found.flatMap(({ descriptor, dataPoints }) =>
      dataPoints.map(({ attributes, value }) => {
        if (typeof value === "number" || !("buckets" in value) || !("boundaries" in value.buckets)) {
          throw new TypeError("Expected a histogram");
        }
        const { count, sum, buckets: { boundaries } } = value;
        return { name, unit: descriptor.unit, attributes, count, sum, boundaries };
      })
    );
  }
}

/** Contexts that follow promises: what an SDK registers for a runtime. */
export function createContextManager(): ContextManager {
  const storage = new AsyncLocalStorage<Context>();
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (context, work, self, ...args) => storage.run(context, () => work.apply(self, args)),
    bind: (_context, target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  return manager;
}

/** A server with one of everything. */
export function createServer(): McpServer {
  const server = new McpServer({ name: "sample", version: "1.2.3" });
  const input = { type: "object", properties: { text: { type: "string" } } };
  server.tool("echo", { input }, ({ text }) => String(text));
  server.tool("later", { input }, async ({ text }) => {
    await new Promise((resolve) => setTimeout(resolve, 1));
    return String(text);
  });
  server.tool("fail", {}, () => {
    throw new Error("the password is hunter2");
  });
  server.tool("ask", {}, async (_args, { elicit }) => {
    const requestedSchema = { type: "object" as const, properties: { name: { type: "string" as const } } };
    const { content } = await elicit({ message: "Who?", requestedSchema });
    return String(content?.name);
  });
  server.tool("forever", {}, (_args, { log }) => {
    log("info", "here");
    return new Promise<string>(() => {});
  });
  server.resource("memo://one", { name: "one" }, () => "# One");
  server.template("memo://{id}{?token}", { name: "memo" }, (uri, { id }) => {
    if (id === "broken") throw new RangeError("hunter2");
    return id === "none" ? undefined : uri;
  });
  server.prompt("greet", { arguments: { name: { required: true } } }, ({ name }) => `Greet ${name}`);
  return server;
}

/** What a test chooses. */
export interface Sides {
  sdk?: Sdk;
  server?: McpServer;
  era?: Era;
  way?: "http" | "pipe";
  client?: ClientTelemetryOptions;
  serving?: ServerTelemetryOptions;
  options?: Options;
}

/** Joins a client and a server, both recorded by one SDK; at the end no span may be open. */
export async function joined(sides: Sides, run: (client: Client, sdk: Sdk) => Promise<void>): Promise<Sdk> {
  const { sdk = new Sdk(), era = "modern", way = "http", client: given = {}, serving = {}, options } = sides;
  const watch = openTelemetry({
    ...sdk.providers,
    ...(way === "http" ? { server: url } : { transport: "stdio" }),
    ...given,
  });
  const served = traceServer(sides.server ?? createServer(), { ...sdk.providers, ...serving });
  const eras = [era];
  if (way === "http") {
    const handler = createHandler(served, { eras, allowedHosts: ["server.test"] });
    await using client = await connect(url, {
      fetch: (url, init) => handler(heldRequest(url, init)),
      middleware: [watch],
      ...options,
    });
    await run(watch.watch(client), sdk);
    handler.close();
  } else {
    const [near, far] = createMemoryPair();
    const serving = serveChannel(served, far, { eras });
    await using client = await connect(new ChannelTransport(() => near), { middleware: [watch], ...options });
    await run(watch.watch(client), sdk);
    await serving.close();
  }
  if (sdk.open > 0) throw new Error(`${sdk.open} spans were left open`);
  return sdk;
}
