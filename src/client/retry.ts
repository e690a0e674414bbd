/**
 * When a request is sent again by itself. This is the whole of the rule:
 * it certainly was not executed, or its method only reads, or the caller marked it idempotent.
 *
 * @module
 */
import {
  ConnectError,
  ConnectionClosedError,
  HttpStatusError,
  McpError,
  OutcomeUnknownError,
  PeerExitedError,
} from "../protocol/errors.ts";
import type { Clock, Random } from "../ports.ts";

/** Options of the retry rule. */
export interface RetryOptions {
  /** How often a request is sent at most, the first time included (3). 1 turns retries off. */
  attempts?: number | undefined;
}

const reads: ReadonlySet<string> = new Set([
  "server/discover",
  "initialize",
  "ping",
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "prompts/get",
  "completion/complete",
  "tasks/get",
]);

const budgetWindow = 10_000;
const budgetShare = 0.2;
const budgetLeast = 3;

/** Decides about retries for one server; keeps the budget that they live on. */
export class Retries {
  readonly #attempts: number;
  readonly #clock: Clock;
  readonly #random: Random;
  #windowStart = -Infinity;
  #calls = 0;
  #retries = 0;

  constructor(parts: { clock: Clock; random: Random; retry?: RetryOptions | undefined }) {
    this.#attempts = parts.retry?.attempts ?? 3;
    this.#clock = parts.clock;
    this.#random = parts.random;
  }

  /** Counts a request, so that its kind has a budget. Gives the time it started. */
  count(): number {
    const now = this.#clock.monotonic();
    if (now - this.#windowStart >= budgetWindow) {
      this.#windowStart = now;
      this.#calls = this.#retries = 0;
    }
    this.#calls++;
    return now;
  }

  /**
   * How long to wait before the next attempt, in milliseconds; undefined when there is to be none.
   *
   * @param attempt How often it was sent already.
   */
  delay(
    error: unknown,
    request: { method: string; idempotent?: boolean | undefined },
    attempt: number,
  ): number | undefined {
    if (!(error instanceof McpError) || attempt >= this.#attempts) return undefined;
    const status = error instanceof HttpStatusError ? error.status : 0;
    const notRun = error instanceof ConnectError && error.delivery === "not-sent" || status === 429;
    const harmless = (request.idempotent || reads.has(request.method)) && error.retryable;
    if (!notRun && !harmless) return undefined;
    if (error instanceof ConnectError && !error.retryable) return undefined;
    if (this.#retries >= Math.max(budgetLeast, this.#calls * budgetShare)) return undefined;
    this.#retries++;
    const busy = status === 429 || status === 503;
    if (busy && error instanceof HttpStatusError && error.retryAfter !== undefined) return error.retryAfter;
    const [base, cap] = busy ? [500, 20_000] : [200, 5_000];
    return this.#random.fraction() * Math.min(cap, base * 2 ** (attempt - 1));
  }
}

/** The error as the caller sees it: a tool call that broke off after it was sent has an unknown outcome. */
export function finalError(error: unknown, method: string, server: string): unknown {
  if (!(error instanceof McpError)) return error;
  error.server ??= server;
  error.method ??= method;
  if (method !== "tools/call" || error.delivery !== "unknown" || error instanceof PeerExitedError) return error;
  if (!(error instanceof ConnectionClosedError || error instanceof HttpStatusError)) return error;
  return new OutcomeUnknownError(`The tool may or may not have run: ${lowerFirst(error.message)}`, {
    cause: error,
    method,
    server: error.server,
    delivery: "unknown",
  });
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}
