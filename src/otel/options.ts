/**
 * The options that both sides share.
 *
 * @module
 */
import type { JsonObject } from "../protocol/json_rpc.ts";
import type { Clock } from "../ports.ts";

/** What makes tracers: OpenTelemetry's `TracerProvider`. */
export interface TracerProvider {
  /** A tracer of OpenTelemetry. */
  getTracer(name: string, version?: string): object;
}

/** What makes meters: OpenTelemetry's `MeterProvider`. */
export interface MeterProvider {
  /** A meter of OpenTelemetry. */
  getMeter(name: string, version?: string): object;
}

/** Where a program is in its traces: OpenTelemetry's `Context`. */
export interface Context {
  /** What is kept under a key. */
  getValue(key: symbol): unknown;
  /** A context with something more. */
  setValue(key: symbol, value: unknown): Context;
  /** A context without something. */
  deleteValue(key: symbol): Context;
}

/** What writes and reads a context: OpenTelemetry's `TextMapPropagator`. */
export interface Propagator {
  /** Writes it with `setter.set(carrier, key, value)`. */
  inject(
    context: Context,
    carrier: Record<string, string>,
    setter: { set(carrier: Record<string, string>, key: string, value: string): void },
  ): void;
  /** Reads it with `getter.get(carrier, key)`: gives a context with what was there. */
  extract(
    context: Context,
    carrier: JsonObject,
    getter: { keys(carrier: JsonObject): string[]; get(carrier: JsonObject, key: string): string | undefined },
  ): Context;
}

/** What may be told of a request, and of which one. */
export interface ContentAbout {
  /** The JSON-RPC method. */
  readonly method: string;
  /** The name of the tool or prompt. */
  readonly name?: string | undefined;
  /** `arguments` and `result` of a tool's call; `error`: `{ message }`, or the result of a tool that failed. */
  readonly what: "arguments" | "result" | "error";
}

/** How messages travel. */
export type TransportName = "http" | "stdio" | "websocket";

/** Options of the client's side and of the server's. */
export interface OpenTelemetryOptions {
  /** Makes the spans. Default: the global one, also when it is registered later. */
  tracerProvider?: TracerProvider | undefined;
  /** Makes the histograms. Default: the global one, also when it is registered later. */
  meterProvider?: MeterProvider | undefined;
  /** Writes the context into `_meta` and reads it. Default: the global one; where there is none, W3C Trace Context and Baggage. */
  propagator?: Propagator | undefined;
  /** Attributes on every span and measurement: few values each, since each combination is a time series of its own. */
  attributes?: Readonly<Record<string, string | number | boolean>> | undefined;
  /**
   * What may be recorded of arguments, results and error messages; undefined for nothing. They hold what users type and what
   * tools find: without this nothing of them is recorded. What is no text is recorded as JSON. When it throws, nothing is.
   */
  sanitize?: ((content: JsonObject, about: ContentAbout) => unknown) | undefined;
  /** Measures durations (the system's). When spans begin and end is the SDK's to say. */
  clock?: Clock | undefined;
}
