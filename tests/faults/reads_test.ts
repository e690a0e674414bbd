/**
 * What may be sent again, when, and how often: lists under faults, `Retry-After`, the budget, the deadline. On a virtual
 * clock, with chance at 0.5: each wait is exact.
 */
import { assert, assertEquals, assertLessOrEqual, assertRejects } from "@std/assert";
import { describe, test } from "node:test";
import { type Client, connect, HttpStatusError, OutcomeUnknownError } from "../../mod.ts";
import { createHostileServer, type FaultName, type HostileOptions, type HostileServer } from "../servers/hostile.ts";
import { memoryFetch } from "../servers/memory_fetch.ts";
import { VirtualClock } from "../support/virtual_clock.ts";
import { assertOutcome, evenRandom, textOf, trackFetch, watch, watchStrays, within } from "./support/harness.ts";
import { together } from "./support/together.ts";

const strays = watchStrays();
const eras = ["modern", "legacy"] as const;

/** What breaks off, and the class of the error when it never ends. */
const breaks: readonly (readonly [FaultName, string])[] = [
  ["ends-without-answer", "ConnectionClosedError"],
  ["truncated-event", "ConnectionClosedError"],
  ["breaks-at-once", "ConnectionClosedError"],
  ["breaks-mid-event", "ConnectionClosedError"],
  ["network-error", "ConnectionClosedError"],
  ["http-500", "HttpStatusError"],
  ["http-502", "HttpStatusError"],
  ["http-504", "HttpStatusError"],
];

/** Milliseconds before the second attempt. */
const waits = { none: 250, 0: 0, 1: 1_000, negative: 0, huge: 60_000, date: 2_000, past: 0, garbage: 250 };

describe("faults on lists", () => {
  const cases = new Map<string, () => Promise<void>>();
  for (const era of eras) {
    for (const [fault, ends] of breaks) {
      cases.set(`F5 F8 F19 ${era} ${fault} once: sent again after 100 ms`, () => once(fault, era, 100));
      cases.set(`F5 F8 F19 ${era} ${fault} for ever: ${ends} after three times`, () => forEver(fault, era, ends));
    }
    for (const [name, wait] of Object.entries(waits)) {
      for (const code of [429, 503]) {
        const fault = `http-${code}-${name}` as FaultName; // all sixteen exist: `once` would see no hit otherwise
        cases.set(`F18 ${era} ${fault} once: sent again after ${wait} ms`, () => once(fault, era, wait));
      }
    }
    cases.set(`F3 ${era} headers-never once: sent again after its time-out`, () => once("headers-never", era, 30_100));
  }
  const outcome = together(cases);
  for (const name of cases.keys()) test(name, () => outcome(name));

  test("nothing was rejected unheard", () => strays.none());
});

describe("retries", () => {
  test("the budget: 20 % of the calls in 10 s, at least 3", async () => {
    const { client, clock, server } = await open("http-503-0", { on: "tools/list" });
    for (let count = 1; count <= 30; count++) {
      await clock.until(assertRejects(() => client.listTools(), HttpStatusError));
      assertLessOrEqual(server.hits() - count, Math.max(3, Math.ceil(0.2 * count)), `after ${count} calls`);
    }
    assertEquals(server.hits(), 36);
    await client.close();
  });

  test("the deadline: a wait that would outlast it is not begun", async () => {
    const { client, clock, server } = await open("http-503-1", { on: "tools/list" });
    const startedAt = clock.monotonic();
    await assertRejects(() => client.listTools({ timeout: 1_000 }), HttpStatusError);
    assertEquals([server.hits(), clock.monotonic() - startedAt], [1, 0]);
    await clock.until(assertRejects(() => client.listTools({ timeout: 1_001 }), HttpStatusError));
    assertEquals([server.hits(), clock.monotonic() - startedAt], [3, 1_000]);
    await client.close();
  });

  test("a tool call after 503 is not sent again, unless the caller said that twice is once", async () => {
    const { client, clock, server } = await open("http-503-1", { times: 2 });
    await assertRejects(() => client.callTool("echo"), OutcomeUnknownError);
    assertEquals(server.hits(), 1);
    await clock.until(client.callTool("echo", {}, { idempotent: true }));
    assertEquals([server.hits(), server.calls("echo")], [2, 1]);
    await client.close();
  });

  test("F20 a session that the server has forgotten: one new session, the call runs once", async () => {
    const { client, clock, server } = await open("http-404-session", { era: "legacy", times: 1 });
    assertEquals(textOf(await client.callTool("echo", { text: "hi" })), "hi");
    assertEquals([clock.monotonic(), server.hits(), server.calls("echo")], [0, 1, 1]);
    assertEquals(server.count("initialize"), 2);
    await client.close();
  });

  test("F20 ten calls that find it forgotten: one new session, each runs once", async () => {
    const { client, server } = await open("http-404-session", { era: "legacy", times: 1 });
    const texts = Array.from({ length: 10 }, (_, index) => String(index));
    const results = await Promise.all(texts.map((text) => client.callTool("echo", { text })));
    assertEquals(results.map(textOf), texts);
    assertEquals([server.calls("echo"), server.count("initialize")], [10, 2]);
    await client.close();
  });

  test("the caller's abort ends a wait at once, with its own reason", async () => {
    const { client, clock, server } = await open("http-429-huge");
    const controller = new AbortController();
    const call = watch(client.callTool("echo", {}, { signal: controller.signal }));
    await within(() => server.hits() === 1);
    await clock.advance(1_000);
    const reason = new Error("enough");
    controller.abort(reason);
    assert(await within(() => call.ended() !== undefined));
    assertEquals(call.ended(), { error: reason });
    await client.close();
    await clock.advance(120_000);
    assertEquals(server.hits(), 1);
  });

  test("close() ends a wait at once, and nothing is sent afterwards", async () => {
    const { client, clock, server } = await open("http-429-huge");
    const call = watch(client.callTool("echo"));
    await within(() => server.hits() === 1);
    await clock.advance(1_000);
    await client.close();
    assert(await within(() => call.ended() !== undefined), "the call ended with the client");
    await clock.advance(120_000);
    assertEquals([server.hits(), clock.waiting], [1, 0]);
  });
});

/** The fault happens once; the list is there after exactly this wait. */
async function once(fault: FaultName, era: "modern" | "legacy", wait: number): Promise<void> {
  const { client, clock, server, isOpen } = await open(fault, { era, on: "tools/list", times: 1 });
  const startedAt = clock.monotonic();
  const { tools } = await clock.until(client.listTools());
  assert(tools.length > 0);
  assertEquals([server.hits(), clock.monotonic() - startedAt], [1, wait]);
  assert(await within(() => isOpen() === 0, 20), "nothing is left open");
  await clock.until(client.close());
  assertEquals([clock.waiting, [...server.violations]], [0, []]);
}

async function forEver(fault: FaultName, era: "modern" | "legacy", ends: string): Promise<void> {
  const { client, clock, server, isOpen } = await open(fault, { era, on: "tools/list" });
  const startedAt = clock.monotonic();
  const work = client.listTools();
  const call = watch(work);
  await clock.until(work).catch(() => {});
  const end = call.ended();
  assert(end !== undefined);
  assertOutcome(end, { ends, delivery: "unknown", ran: 0 });
  assertEquals([server.hits(), clock.monotonic() - startedAt], [3, 300]);
  assert(await within(() => isOpen() === 0, 20), "nothing is left open");
  await clock.until(client.close());
}

interface Opened {
  readonly client: Client;
  readonly clock: VirtualClock;
  readonly server: HostileServer;
  /** Bodies that are open. */
  isOpen(): number;
}

async function open(fault: FaultName, options: HostileOptions = {}): Promise<Opened> {
  const clock = new VirtualClock();
  const server = createHostileServer(fault, { clock, ...options });
  const tracked = trackFetch(memoryFetch(server));
  const connecting = connect("http://fake.test/mcp", { fetch: tracked.fetch, clock, random: evenRandom });
  return { client: await clock.until(connecting), clock, server, isOpen: tracked.open };
}
