/**
 * How much of anything is taken from a server. Every limit is an option; a `LimitExceededError` names the one it hit.
 *
 * @module
 */

import { LimitExceededError } from "./errors.ts";
import type { McpErrorOptions } from "./errors.ts";
import { closeTime, pagesTime, probeTime } from "./limits/times.ts";

/** Upper bounds. Bytes are decompressed bytes. */
export interface Limits {
  /** One JSON message, SSE event or line (16 MiB; 8 MiB from `./workers`). */
  messageBytes: number;
  /** One whole reply stream (256 MiB; 64 MiB from `./workers`). */
  streamBytes: number;
  /** How deep JSON may nest (128). */
  jsonDepth: number;
  /** How many values one message may hold; counted before a message is parsed that is long enough to hold more (1,000,000; 250,000 from `./workers`). */
  jsonNodes: number;
  /** Pages that a list follows (100). */
  pages: number;
  /** Items that a list gathers (10,000). */
  items: number;
  /** Tools that one server may list (5,000). */
  tools: number;
  /** Rounds of `input_required` in one call (10). */
  inputRounds: number;
  /** Bytes waiting to be written to one pipe or socket (64 MiB). */
  outboxBytes: number;
  /** Characters of one mirrored header value (4,096). */
  headerBytes: number;
  /** Characters of all mirrored headers (16,384). */
  headersBytes: number;
  /** Messages with no place (unknown ids, noise lines) before a channel is given up (10,000). */
  strays: number;
}

/** The limits that every call is held to. The others are there where they were given: who looks at them fills them in. */
export type CoreLimits =
  & Pick<Limits, "messageBytes" | "streamBytes" | "jsonDepth" | "jsonNodes" | "inputRounds" | "headerBytes">
  & Partial<Limits>;

/** The defaults of {@linkcode CoreLimits}. */
export const coreLimits: Readonly<CoreLimits> = {
  messageBytes: 2 ** 24,
  streamBytes: 2 ** 28,
  jsonDepth: 128,
  jsonNodes: 1_000_000,
  inputRounds: 10,
  headerBytes: 4_096,
};

/** The defaults for Node, Bun, Deno and browsers. */
export const defaultLimits: Readonly<Limits> = /* @__PURE__ */ Object.assign({
  pages: 100,
  items: 10_000,
  tools: 5_000,
  outboxBytes: 67_108_864,
  headersBytes: 16_384,
  strays: 10_000,
}, coreLimits);

/** What differs in an isolate with 128 MB. */
export const workersLimits: Readonly<Partial<Limits>> = {
  messageBytes: 8_388_608,
  streamBytes: 67_108_864,
  jsonNodes: 250_000,
};

/** How long anything may take, in milliseconds. */
export interface Timeouts {
  /** Until the reply's headers are there (30 s). HTTP only. */
  headers: number;
  /** Between signs of life of a call: the start, an answer's beginning, progress (60 s). */
  idle: number;
  /** A whole call, over all its rounds; nothing extends it (300 s). */
  total: number;
  /** Until a server has answered the first request of all: `server/discover` or `initialize` (30 s). */
  start: number;
  /** How long a pipe is given to answer `server/discover` before it counts as legacy (5 s). */
  probe: number;
  /** How long a child has to end after its input closed, and again after SIGTERM (2 s). */
  close: number;
  /** How long a list may gather pages (30 s). */
  pages: number;
}

/** The time-outs that every call is held to. The others are there where they were given: who looks at them fills them in. */
export type CoreTimeouts = Omit<Timeouts, "probe" | "close" | "pages"> & Partial<Timeouts>;

/** The defaults of {@linkcode CoreTimeouts}. */
export const coreTimeouts: Readonly<CoreTimeouts> = {
  headers: 30_000,
  idle: 60_000,
  total: 300_000,
  start: 30_000,
};

/** The default time-outs. */
export const defaultTimeouts: Readonly<Timeouts> = /* @__PURE__ */ Object.assign(
  { probe: probeTime, close: closeTime, pages: pagesTime },
  coreTimeouts,
);

/** The defaults, with what is given in their place. What is given as undefined is not given: no limit is switched off so. */
export function fillIn<Values extends object>(defaults: Readonly<Values>, given: Partial<Values> | undefined): Values {
  const values: Values = { ...defaults, ...given };
  for (const name in defaults) values[name] ??= defaults[name];
  return values;
}

/** A time that is to be above 0; what is none is the usual one. */
export function timeOr(usual: number, given: number | undefined): number {
  return given! > 0 ? given! : usual;
}

/**
 * Looks at how far the clock of a token's issuer may be off.
 *
 * @throws {TypeError} When it is no time: with an endless one no token would expire.
 */
export function checkClockTolerance(milliseconds: number): void {
  if (Number.isFinite(milliseconds) && milliseconds >= 0) return;
  throw new TypeError(`Cannot use the clock tolerance ${milliseconds}: expected milliseconds, 0 or more`);
}

/**
 * Holds what was seen against a limit.
 *
 * @throws {LimitExceededError} When it is more.
 */
export function checkLimit(name: keyof Limits, limit: number, seen: number, options?: McpErrorOptions): void {
  if (seen > limit) throw new LimitExceededError(`limits.${name}`, limit, seen, options);
}
