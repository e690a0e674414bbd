/**
 * One span and one measurement for each operation. What the SDK throws ends here.
 *
 * @module
 */
import { metrics, SpanStatusCode, trace } from "@opentelemetry/api";
import type { Attributes, Histogram, Link, Meter, Span, SpanKind, Tracer } from "@opentelemetry/api";
import { systemClock } from "../ports.ts";
import type { Clock } from "../ports.ts";
import { isObject } from "../protocol/json_rpc.ts";
import type { JsonObject } from "../protocol/json_rpc.ts";
import { version } from "../version.ts";
import { attempt } from "../egress/attempt.ts";
import { type Described, type Outcome, spanName } from "./attributes.ts";
import type { ContentAbout, Context, MeterProvider, OpenTelemetryOptions } from "./options.ts";

const library = "@causeway/mcp";
/** The conventions' own, in seconds. */
const explicitBucketBoundaries = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

/** A histogram of durations, made when it is needed and made anew when another provider is registered. */
export class Durations {
  readonly #given: MeterProvider | undefined;
  readonly #name: string;
  readonly #description: string;
  #from: MeterProvider | undefined;
  #histogram: Histogram | undefined;

  constructor(given: MeterProvider | undefined, name: string, description: string) {
    this.#given = given;
    this.#name = name;
    this.#description = description;
  }

  /** Records a duration. */
  record(milliseconds: number, attributes: Attributes, within?: Context): void {
    attempt(() => {
      const provider = this.#given ?? metrics.getMeterProvider();
      if (provider !== this.#from) {
        const advice = { explicitBucketBoundaries };
        const meter = provider.getMeter(library, version);
        const description = this.#description;
        this.#histogram = isMeter(meter)
          ? meter.createHistogram(this.#name, { unit: "s", description, advice })
          : undefined;
        this.#from = provider;
      }
      this.#histogram?.record(milliseconds / 1000, attributes, within);
    });
  }
}

/** What an operation begins with. */
export interface Beginning {
  readonly described: Described;
  readonly kind: SpanKind;
  readonly parent: Context;
  readonly links?: Link[];
}

/** Makes operations. */
export class Recorder {
  readonly options: OpenTelemetryOptions;
  readonly clock: Clock;
  readonly durations: Durations;
  /** Of all spans and measurements. */
  readonly place: Attributes;
  #tracer: Tracer | undefined;

  constructor(options: OpenTelemetryOptions, durations: Durations, place: Attributes) {
    this.options = options;
    this.clock = options.clock ?? systemClock;
    this.durations = durations;
    this.place = { ...place, ...options.attributes };
  }

  /** Begins one. */
  begin(beginning: Beginning): Operation {
    const { described, kind, parent, links = [] } = beginning;
    const { attributes, spanAttributes } = described;
    const span = attempt(() => {
      this.#tracer ??= this.#makeTracer();
      const all = { ...this.place, ...attributes, ...spanAttributes };
      return this.#tracer?.startSpan(spanName(described), { kind, attributes: all, links }, parent);
    });
    return new Operation(this, described, parent, span);
  }

  #makeTracer(): Tracer | undefined {
    const tracer = (this.options.tracerProvider ?? trace).getTracer(library, version);
    return isTracer(tracer) ? tracer : undefined;
  }
}

function isTracer(value: object): value is Tracer {
  return "startSpan" in value && typeof value.startSpan === "function";
}

function isMeter(value: object): value is Meter {
  return "createHistogram" in value && typeof value.createHistogram === "function";
}

/** What is under way: ends once. */
export class Operation {
  /** For what runs inside. */
  readonly context: Context;
  readonly #recorder: Recorder;
  readonly #described: Described;
  readonly #span: Span | undefined;
  readonly #startedAt: number;
  #ended = false;

  constructor(recorder: Recorder, described: Described, parent: Context, span: Span | undefined) {
    this.context = (span && attempt(() => trace.setSpan(parent, span))) ?? parent;
    this.#recorder = recorder;
    this.#described = described;
    this.#span = span;
    this.#startedAt = recorder.clock.monotonic();
  }

  /** Records what `sanitize` lets through of a tool's arguments or result. */
  content(what: "arguments" | "result", content: unknown): void {
    if (!isObject(content) || this.#described.method !== "tools/call" || this.#ended) return;
    const told = this.#sanitized(what, content as JsonObject);
    if (told !== undefined) attempt(() => this.#span?.setAttribute(`gen_ai.tool.call.${what}`, told));
  }

  /**
   * Ends it; what comes later is dropped.
   *
   * @param more Attributes that were not known at the beginning; `name` is the target's, where it was in doubt till now.
   */
  end(outcome: Outcome, more: Attributes = {}, name?: string): void {
    if (this.#ended) return;
    const message = outcome.failure && this.#sanitized("error", outcome.failure);
    this.#ended = true;
    const { durations, clock, place } = this.#recorder;
    const attributes = { ...more, ...outcome.attributes };
    const span = this.#span;
    if (name !== undefined) attempt(() => span?.updateName(name));
    attempt(() => span?.setAttributes(attributes));
    if ("error.type" in attributes) {
      attempt(() => span?.setStatus({ code: SpanStatusCode.ERROR, ...(message !== undefined && { message }) }));
    }
    const measured = { ...place, ...this.#described.attributes, ...attributes };
    // Before the span is over: an exemplar names a span that is under way.
    durations.record(clock.monotonic() - this.#startedAt, measured, this.context);
    attempt(() => span?.end());
  }

  #sanitized(what: ContentAbout["what"], content: JsonObject): string | undefined {
    const { sanitize } = this.#recorder.options;
    if (!sanitize) return undefined;
    const { method, target: name } = this.#described;
    return attempt(() => {
      if (!this.#span?.isRecording()) return undefined;
      const told = sanitize(content, { method, what, ...(name !== undefined && { name }) });
      return typeof told === "string" || told === undefined ? told : JSON.stringify(told);
    });
  }
}
