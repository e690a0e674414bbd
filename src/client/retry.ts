/**
 * When a request is sent again by itself. This is the whole of the rule:
 * it certainly was not executed, or its method only reads, or the caller marked it idempotent.
 *
 * @module
 */
import { ConnectionClosedError, HttpStatusError, McpError, OutcomeUnknownError } from "../protocol/errors.ts";
import type { Clock, Random } from "../ports.ts";

/** Options of the retry rule. */
export interface RetryOptions {
  /** How often a request is sent at most, the first time included (3). 1 turns retries off. Read each time. */
  attempts?: number | undefined;
}

/** The methods that only read, so that doing them twice is the same as doing them once. */
const reads = /^(server\/discover|initialize|ping|.*\/list|resources\/read|(prompts|tasks)\/get|completion\/complete)$/;

/** Decides about retries for one server; keeps the budget that they live on. */
export class Retries {
  readonly #options: RetryOptions;
  readonly #parts: { clock: Clock; random: Random };
  #windowStart = -Infinity;
  #calls = 0;
  #retries = 0;

  constructor(parts: { clock: Clock; random: Random }, options: RetryOptions = {}) {
    this.#options = options;
    this.#parts = parts;
  }

  /**
   * Counts a request: the budget grows with it.
   *
   * @param now By the monotonic clock.
   */
  count(now: number): void {
    const budgetWindow = 10_000;
    if (now - this.#windowStart >= budgetWindow) {
      this.#windowStart = now;
      this.#calls = this.#retries = 0;
    }
    this.#calls++;
  }

  /**
   * How long to wait before the next attempt, in milliseconds; Infinity when there is to be none.
   *
   * @param attempt How often it was sent already.
   */
  delay(error: unknown, method: string, attempt: number, idempotent?: boolean): number {
    const budgetShare = 0.2;
    const budgetLeast = 3;
    const may = error instanceof McpError && error.retryable && attempt < (this.#options.attempts ?? 3) &&
      (error.delivery === "not-sent" || idempotent || reads.test(method)) &&
      this.#retries < Math.max(budgetLeast, this.#calls * budgetShare);
    if (!may) return Infinity;
    this.#retries++;
    const { status, retryAfter } = error as Partial<HttpStatusError>;
    const busy = status === 429 || status === 503;
    if (busy && retryAfter !== undefined) return retryAfter;
    return this.#parts.random.fraction() * Math.min(busy ? 20_000 : 5_000, (busy ? 250 : 100) * 2 ** attempt);
  }
}

/** The error as the caller sees it: a tool call that broke off after it was sent has an unknown outcome. */
export function finalError(error: unknown, method: string, server: string): unknown {
  if (!(error instanceof McpError)) return error;
  error.server ??= server;
  error.method ??= method;
  const brokeOff = error instanceof ConnectionClosedError || error instanceof HttpStatusError;
  if (error.method !== "tools/call" || error.delivery !== "unknown" || !brokeOff) return error;
  return new OutcomeUnknownError(`The tool may have run or not: ${error.message}`, { cause: error, method, server });
}
