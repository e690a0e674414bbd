/**
 * A network in memory for the tests of the guarded fetch: what it answers, what it saw, and time that is driven by hand.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { createGuardedFetch, type GuardedFetch, type GuardedFetchOptions } from "../../src/egress/guarded_fetch.ts";
import type { Clock, Fetch } from "../../src/ports.ts";

/** The server that the operator named. */
export const operator = "https://mcp.example/mcp";
/** What is fetched first: a place that a server named. */
export const start = "https://as.example/document";

/** A request as the network got it. */
export interface Seen {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: unknown;
}

/** A network in memory: it answers by `answer`, writes down what it was asked, and counts the bodies that are still open. */
export class World {
  readonly requests: Seen[] = [];
  readonly #streams: { open: boolean }[] = [];
  readonly #answer: (url: string, index: number) => Response;
  readonly #headers: Record<string, string>;
  readonly #before: () => void;

  constructor(
    answer: (url: string, index: number) => Response,
    headers: Record<string, string> = {},
    before: () => void = () => {},
  ) {
    this.#answer = answer;
    this.#headers = headers;
    this.#before = before;
  }

  fetch: Fetch = async (url, init) => {
    assertEquals(init.redirect, "manual");
    const headers = Object.fromEntries(new Headers(init.headers));
    this.requests.push({ url, method: init.method ?? "GET", headers, body: init.body });
    this.#before();
    const response = this.#answer(url, this.requests.length - 1);
    for (const [name, value] of Object.entries(this.#headers)) response.headers.set(name, value);
    return await Promise.resolve(this.track(response));
  };

  /** Puts a stream in front of the body that knows whether it was read to its end or cancelled. */
  track(response: Response): Response {
    const source = response.body?.getReader();
    if (!source) return response;
    const state = { open: true };
    this.#streams.push(state);
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done, value } = await source.read();
        if (!done) return controller.enqueue(value);
        state.open = false;
        controller.close();
      },
      async cancel() {
        state.open = false;
        await source.cancel();
      },
    }, { highWaterMark: 0 });
    const { type } = response;
    const copy = new Response(body, { status: response.status, headers: response.headers });
    return Object.defineProperty(copy, "type", { value: type });
  }

  /** How many bodies are neither read to their end nor cancelled. */
  async open(): Promise<number> {
    await breathe();
    return this.#streams.filter((stream) => stream.open).length;
  }

  /** The fetch under test, joined to this network. */
  guarded(options: Partial<GuardedFetchOptions> = {}): GuardedFetch {
    return createGuardedFetch({ fetch: this.fetch, operator, ...options });
  }
}

/** A clock that stands still until it is told to go on. */
export class ManualClock implements Clock {
  #time = 0;
  #timers = new Map<() => void, number>();
  now(): number {
    return this.#time;
  }
  monotonic(): number {
    return this.#time;
  }
  schedule(callback: () => void, milliseconds: number): () => void {
    this.#timers.set(callback, this.#time + milliseconds);
    return () => void this.#timers.delete(callback);
  }
  advance(milliseconds: number): void {
    this.#time += milliseconds;
    // Those that are set meanwhile come along, when they are due.
    for (const [callback, due] of this.#timers) {
      if (due <= this.#time && this.#timers.delete(callback)) callback();
    }
  }
  get waiting(): number {
    return this.#timers.size;
  }
}

/** A reply whose body comes in these pieces. */
export function reply(...pieces: (string | Uint8Array)[]): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(typeof piece === "string" ? encoder.encode(piece) : piece);
      controller.close();
    },
  });
  return new Response(body);
}

/** A reply that sends elsewhere, or nowhere. */
export function redirect(status: number, location?: string): Response {
  return new Response("moved", { status, headers: location === undefined ? {} : { location } });
}

/** A reply whose body never ends by itself. */
export function unfinished(text: string, status = 200, location?: string): Response {
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode(text || " ")),
  });
  return new Response(body, { status, headers: location === undefined ? {} : { location } });
}

/** The bytes of a text in so many pieces; characters are split too. */
export function cut(text: string, pieces: number): Uint8Array[] {
  const bytes = new TextEncoder().encode(text);
  const size = Math.ceil(bytes.length / pieces);
  return Array.from(
    { length: Math.ceil(bytes.length / size) },
    (_, index) => bytes.slice(index * size, (index + 1) * size),
  );
}

/** A resolver that knows one answer. */
export function stub(...addresses: string[]): (hostname: string) => Promise<string[]> {
  return () => Promise.resolve(addresses);
}

/** Counts the abort listeners of a signal. */
export function countListeners(signal: AbortSignal): { added: number; live: number } {
  const count = { added: 0, live: 0 };
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...parameters: Parameters<typeof addEventListener>) => {
    count.added++;
    count.live++;
    addEventListener.apply(signal, parameters);
  };
  signal.removeEventListener = (...parameters: Parameters<typeof removeEventListener>) => {
    count.live--;
    removeEventListener.apply(signal, parameters);
  };
  return count;
}

/** What became of a promise, to be looked at while it is under way. */
export function settle(promise: Promise<unknown>): { state: string; reason?: unknown } {
  const outcome: { state: string; reason?: unknown } = { state: "pending" };
  promise.then(
    () => outcome.state = "fulfilled",
    (reason) => Object.assign(outcome, { state: "rejected", reason }),
  );
  return outcome;
}

/** Lets everything run that needs no time. */
export async function breathe(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
}
