/**
 * When a request is sent again by itself. This is the whole of the rule:
 * it certainly was not executed, or its method only reads, or the caller marked it idempotent.
 *
 * @module
 */
import { ConnectionClosedError, HttpStatusError, McpError, OutcomeUnknownError } from "../protocol/errors.ts";
import type { Random } from "../ports.ts";

/** Options of the retry rule. */
export interface RetryOptions {
  /** How often a request is sent at most, the first time included (3). 1 turns retries off. Read each time. */
  attempts?: number | undefined;
}

/** The methods that only read, so that doing them twice is the same as doing them once. */
const reads = /^(server\/discover|initialize|ping|.*\/list|resources\/read|(prompts|tasks)\/get|completion\/complete)$/;

/** Decides about retries for one server; keeps the budget that they live on. */
export interface Retries {
  /**
   * Counts a request: the budget grows with it.
   *
   * @param now By the monotonic clock.
   */
  count(now: number): void;
  /**
   * How long to wait before the next attempt, in milliseconds; Infinity when there is to be none.
   *
   * @param attempt How often it was sent already.
   */
  delay(error: unknown, method: string, attempt: number, idempotent?: boolean): number;
}

/** The retry rule for one server. */
export function createRetries(random: Random, options: RetryOptions = {}): Retries {
  let windowStart = -Infinity;
  let calls = 0;
  let retries = 0;
  return {
    count(now) {
      const budgetWindow = 10_000;
      if (now - windowStart >= budgetWindow) {
        windowStart = now;
        calls = retries = 0;
      }
      calls++;
    },
    delay(error, method, attempt, idempotent) {
      const budgetShare = 0.2;
      const budgetLeast = 3;
      const may = error instanceof McpError && error.retryable && attempt < (options.attempts ?? 3) &&
        (error.delivery === "not-sent" || idempotent || reads.test(method)) &&
        retries < Math.max(budgetLeast, calls * budgetShare);
      if (!may) return Infinity;
      retries++;
      const { status, retryAfter } = error as Partial<HttpStatusError>;
      const busy = status === 429 || status === 503;
      if (busy && retryAfter !== undefined) return retryAfter;
      return random.fraction() * Math.min(busy ? 20_000 : 5_000, (busy ? 250 : 100) * 2 ** attempt);
    },
  };
}

/** The error as the caller sees it: a tool call that broke off after it was sent has an unknown outcome. */
export function finalError(error: unknown, method: string, server: string): unknown {
  if (!(error instanceof McpError)) return error;
  error.server ??= server;
  error.method ??= method;
  if (
    error.method !== "tools/call" || error.delivery !== "unknown" ||
    !(error instanceof ConnectionClosedError || error instanceof HttpStatusError)
  ) return error;
  return new OutcomeUnknownError(`The tool may have run or not: ${error.message}`, { cause: error, method, server });
}
