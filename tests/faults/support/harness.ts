/**
 * What every test of a fault looks at: how a call ended, what is still open, and what nobody caught.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { type Client, LimitExceededError, McpError, type Random, TimeoutError } from "../../../mod.ts";
import type { Clock, Fetch } from "../../../src/ports.ts";
import type { VirtualClock } from "../../support/virtual_clock.ts";
import type { Outcome } from "../table/row.ts";

/** Chance without chance: always the middle, so that each wait is known beforehand. */
export const evenRandom: Random = {
  fraction: () => 0.5,
  bytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
};

/** The server's clock, 25 times slower: what drips every 200 ms drips every 5 s, and a test has less to wait for. */
export function coarse(clock: Clock): Clock {
  return {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    schedule: (callback, milliseconds, options) => clock.schedule(callback, milliseconds * 25, options),
  };
}

/** How a promise ended. */
export type Ended<Value> = { value: Value } | { error: unknown };

/** A promise, watched. */
export interface Watched<Value> {
  /** What it has come to by now. */
  ended(): Ended<Value> | undefined;
}

/** Watches a promise, so that it is never unhandled and can be looked at. */
export function watch<Value>(work: Promise<Value>): Watched<Value> {
  let end: Ended<Value> | undefined;
  work.then((value) => end = { value }, (error) => end = { error });
  return { ended: () => end };
}

/** One turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, 0));
}

/** Waits for something that needs no clock: at most so many turns of the event loop. True when it holds. */
export async function within(holds: () => boolean, turns: number = 200): Promise<boolean> {
  for (let count = 0; count < turns && !holds(); count++) await turn();
  return holds();
}

/**
 * Waits for the end that the table foretells and checks it: with the clock standing still, or, where a time is given, not
 * before the clock moves.
 */
export async function settle<Value>(work: Promise<Value>, cell: Outcome, clock: VirtualClock): Promise<Ended<Value>> {
  const call = watch(work);
  const settled = await within(() => call.ended() !== undefined, cell.after === undefined ? 200 : 10);
  if (cell.after !== undefined) {
    assert(!settled, "it waited for the clock");
    await clock.until(work).catch(() => {});
  }
  const end = call.ended();
  assert(end !== undefined, "it ended by the fault and not by a timer");
  assertOutcome(end, cell);
  return end;
}

/** A `fetch` that knows what it has open. */
export interface TrackedFetch {
  readonly fetch: Fetch;
  /** Requests without a head, and bodies that were neither read to the end nor cancelled. */
  open(): number;
  /** How many requests were made. */
  count(): number;
}

/** Counts what a `fetch` has open: every request until its body has ended, one way or the other. */
export function trackFetch(fetch: Fetch): TrackedFetch {
  let open = 0;
  let count = 0;
  return {
    open: () => open,
    count: () => count,
    async fetch(url, init) {
      count++;
      open++;
      let over = false;
      const end = () => {
        if (!over) open--;
        over = true;
      };
      try {
        const response = await fetch(url, init);
        if (response.body === null) end();
        return response.body === null ? response : tracked(response, response.body, end);
      } catch (error) {
        end();
        throw error;
      }
    },
  };
}

function tracked(response: Response, whole: ReadableStream<Uint8Array>, end: () => void): Response {
  const reader = whole.getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        end();
        controller.close();
      } catch (error) {
        end();
        controller.error(error);
      }
    },
    cancel(reason) {
      end();
      return reader.cancel(reason);
    },
  }, { highWaterMark: 0 });
  return new Response(body, { status: response.status, headers: response.headers });
}

/** Checks how a call ended against the table. */
export function assertOutcome(end: Ended<unknown>, expected: Outcome): void {
  if ("value" in end) return assertEquals("resolves", expected.ends, `it resolved: ${JSON.stringify(end.value)}`);
  const { error } = end;
  const seen = describeError(error);
  assert(error instanceof McpError, seen);
  assertEquals(error.constructor.name, expected.ends, seen);
  assertEquals(error.delivery, expected.delivery, seen);
  if (expected.names !== undefined) assertEquals(named(error), expected.names, seen);
  assert(error.message.length <= 2_500, `a message of ${error.message.length} characters`);
}

function named(error: McpError): string | undefined {
  if (error instanceof LimitExceededError) return error.limit;
  return error instanceof TimeoutError ? error.timeout : undefined;
}

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return `rejected with ${String(error)}`;
  const cause = error.cause instanceof Error
    ? ` (cause: ${error.cause.name}: ${error.cause.message.slice(0, 200)})`
    : "";
  return `${error.name}: ${error.message.slice(0, 300)}${cause}`;
}

/** The text of a tool's result. */
export function textOf(result: Awaited<ReturnType<Client["callTool"]>>): string | undefined {
  const [first] = result.content;
  return first?.type === "text" ? first.text : undefined;
}

/** Rejections that nobody handled, since the first test of this file. */
export interface Strays {
  /** Fails when there was one. */
  none(): Promise<void>;
}

/** Listens for unhandled rejections, in whatever way the runtime tells of them. */
export function watchStrays(): Strays {
  const seen: unknown[] = [];
  const own: unknown = Reflect.get(globalThis, "process");
  const isNode = typeof own === "object" && own !== null && "versions" in own && !("Deno" in globalThis);
  if (isNode && "on" in own && typeof own.on === "function" && !("WebSocketPair" in globalThis)) {
    own.on("unhandledRejection", (reason: unknown) => void seen.push(reason));
  } else if (typeof globalThis.addEventListener === "function") {
    globalThis.addEventListener("unhandledrejection", (event) => {
      if ("reason" in event) seen.push(event.reason);
    });
  }
  return {
    async none() {
      for (let count = 0; count < 3; count++) await turn();
      assertEquals(seen.map(describeError), []);
    },
  };
}
