/**
 * W3C Trace Context in the `_meta` of requests (specification 2026-07-28: basic, OpenTelemetry Trace Context; SEP-414).
 *
 * @module
 */
import { randomHex } from "../../ports.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { Random } from "../../ports.ts";

/** A trace context as it travels: W3C formats. */
export interface TraceContext {
  /** `00-<trace id>-<span id>-<flags>`. */
  readonly traceparent?: string | undefined;
  /** What tracing systems add, as `key=value` pairs. */
  readonly tracestate?: string | undefined;
  /** What the application hands on, as `key=value` pairs. */
  readonly baggage?: string | undefined;
}

/** The span of one request. */
export interface RequestTrace {
  /** What was put into the request. */
  readonly context: TraceContext & { readonly traceparent: string };
  /** 32 hexadecimal digits: shared by all that belongs together. */
  readonly traceId: string;
  /** 16 hexadecimal digits: of this request alone. */
  readonly spanId: string;
  /** The caller's span; missing when there is none. */
  readonly parentSpanId?: string | undefined;
}

const format = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(?:$|-)/;
const keys = ["traceparent", "tracestate", "baggage"] as const;

/**
 * Opens a span below the caller's: the same trace and flags, a fresh span id. A trace parent that is missing or malformed
 * starts a new, sampled trace; a trace state without its parent means nothing and is left out.
 */
export function childTrace(parent: TraceContext, random: Random): RequestTrace {
  const { traceparent = "", tracestate, baggage } = parent;
  const [, givenTrace, parentSpanId, flags = "01"] = format.exec(traceparent) ?? [];
  const traceId = givenTrace ?? identifier(random, 16);
  const spanId = identifier(random, 8);
  const context = {
    traceparent: `00-${traceId}-${spanId}-${flags}`,
    ...(parentSpanId && tracestate && { tracestate }),
    ...(baggage && { baggage }),
  };
  return { context, traceId, spanId, ...(parentSpanId && { parentSpanId }) };
}

/** The trace context that stands in a `_meta` already; undefined when there is none. */
export function traceOf(meta: JsonObject | undefined): TraceContext | undefined {
  const found = keys.filter((key) => typeof meta?.[key] === "string").map((key) => [key, meta?.[key]]);
  return found.length > 0 ? Object.fromEntries(found) : undefined;
}

/** So many unguessable bytes in hexadecimal digits, never all zero. */
function identifier(random: Random, bytes: number): string {
  const digits = randomHex(random, bytes);
  return /[^0]/.test(digits) ? digits : digits.slice(1) + "1";
}
