/**
 * The context of a trace in the `_meta` of requests (SEP-414): written and read by OpenTelemetry's propagators.
 *
 * @module
 */
import {
  baggageEntryMetadataFromString,
  context,
  createTraceState,
  isSpanContextValid,
  propagation,
  ROOT_CONTEXT,
  trace,
} from "@opentelemetry/api";
import type { BaggageEntry } from "@opentelemetry/api";
import type { TraceContext } from "../client/telemetry/trace_context.ts";
import type { JsonObject } from "../protocol/json_rpc.ts";
import { attempt } from "../egress/attempt.ts";
import type { Context, Propagator } from "./options.ts";

/** Texts by key: `_meta`, or headers. */
type Carrier = Record<string, string>;

/** Nobody needs more, and strangers write it. */
const longestValue = 8192;
const mostMembers = 64;

const parentFormat =
  /^(?!ff)(?:00-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})|(?!00)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(?:-.*)?)$/;
const token = /^[\w!#$%&'*+.^`|~-]+$/;

const setter = { set: (carrier: Carrier, key: string, value: string) => void (carrier[key] = String(value)) };
const getter = {
  keys: (carrier: JsonObject): string[] => Object.keys(carrier).filter((key) => typeof carrier[key] === "string"),
  get(carrier: JsonObject, key: string): string | undefined {
    const value = Object.hasOwn(carrier, key) ? carrier[key] : undefined;
    return typeof value === "string" && value.length <= longestValue ? value : undefined;
  },
};

/** What a context is on the wire; empty where there is no trace. */
export function write(from: Context, given: Propagator | undefined): Carrier {
  const carrier: Carrier = {};
  attempt(() => chosen(given).inject(from, carrier, setter));
  return carrier;
}

/** A context with what came over the wire; `base` where that is nothing. */
export function read(base: Context, carrier: JsonObject, given: Propagator | undefined): Context {
  return attempt(() => chosen(given).extract(base, carrier, getter)) ?? base;
}

/** The context that the program is in. */
export function activeContext(): Context {
  return attempt(() => context.active()) ?? ROOT_CONTEXT;
}

/**
 * The trace that the program is in, as it travels: the option `trace` of an agent, so that its calls belong to the span that
 * it runs in.
 *
 * @param given Writes it. Default: the program's own propagator, else W3C Trace Context.
 * @returns Undefined where there is no trace.
 *
 * @example An agent within the program's spans
 * ```ts
 * import { activeTrace } from "@causeway/mcp/otel";
 *
 * const trace = activeTrace();
 * console.assert(trace === undefined, "there is no SDK here");
 * ```
 */
export function activeTrace(given?: Propagator): TraceContext | undefined {
  const { traceparent, tracestate, baggage } = write(activeContext(), given);
  if (traceparent === undefined) return undefined;
  return { traceparent, ...(tracestate !== undefined && { tracestate }), ...(baggage !== undefined && { baggage }) };
}

/** Runs `work` once in a context, and gives what it gives. */
export function within<Value>(inner: Context, work: () => Value): Value {
  let done: (() => Value) | undefined;
  attempt(() =>
    context.with(inner, () => {
      try {
        const value = work();
        done = () => value;
      } catch (error) {
        done = () => {
          throw error;
        };
      }
    })
  );
  return (done ?? work)();
}

function chosen(given: Propagator | undefined): Propagator {
  return given ?? (attempt(() => propagation.fields().length > 0) ? propagation : w3c);
}

/** W3C Trace Context and Baggage: the words of SEP-414, for programs that registered no propagator. */
const w3c: Propagator = {
  inject(from, carrier, { set }) {
    const span = trace.getSpanContext(from);
    if (span && isSpanContextValid(span)) {
      const flags = span.traceFlags.toString(16).padStart(2, "0");
      set(carrier, "traceparent", `00-${span.traceId}-${span.spanId}-${flags}`);
      const state = span.traceState?.serialize();
      if (state) set(carrier, "tracestate", state);
    }
    const entries = propagation.getBaggage(from)?.getAllEntries().filter(([key]) => token.test(key)) ?? [];
    const baggage = entries.slice(0, mostMembers).map(writeMember).join(",");
    if (baggage && baggage.length <= longestValue) set(carrier, "baggage", baggage);
  },
  extract(base, carrier, { get }) {
    const text = (key: string): string => String(get(carrier, key) ?? "");
    const found = parentFormat.exec(text("traceparent"))?.slice(1).filter((part) => part !== undefined) ?? [];
    const [traceId, spanId, flags] = found;
    let read = base;
    if (traceId && spanId && flags) {
      const state = text("tracestate");
      const traceState = state ? { traceState: createTraceState(state) } : undefined;
      const traceFlags = Number.parseInt(flags, 16) & 1;
      read = trace.setSpanContext(read, { traceId, spanId, traceFlags, isRemote: true, ...traceState });
    }
    const entries = text("baggage").split(",", mostMembers).flatMap(readMember);
    return entries.length > 0
      ? propagation.setBaggage(read, propagation.createBaggage(Object.fromEntries(entries)))
      : read;
  },
};

function writeMember([key, { value, metadata }]: [string, BaggageEntry]): string {
  const properties = metadata?.toString();
  return `${key}=${encodeURIComponent(value)}${properties ? `;${properties}` : ""}`;
}

function readMember(member: string): [string, BaggageEntry][] {
  const [pair = "", ...properties] = member.split(";");
  const at = pair.indexOf("=");
  const key = pair.slice(0, Math.max(at, 0)).trim();
  const value = attempt(() => decodeURIComponent(pair.slice(at + 1).trim()));
  if (!token.test(key) || value === undefined) return [];
  const metadata = properties.join(";").trim();
  return [[key, { value, ...(metadata && { metadata: baggageEntryMetadataFromString(metadata) }) }]];
}
