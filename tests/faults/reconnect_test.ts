/**
 * Streams that stay open, and close again and again: how calm the client stays, how calls go on meanwhile, and that the
 * stream comes back.
 */
import { assert, assertEquals, assertGreater, assertLessOrEqual } from "@std/assert";
import { describe, test } from "node:test";
import { connect } from "../../mod.ts";
import type { HostileOptions } from "../servers/hostile.ts";
import { createHostileServer, type FaultName } from "../servers/hostile.ts";
import { createLegacyServer } from "../servers/legacy.ts";
import { memoryFetch } from "../servers/memory_fetch.ts";
import { VirtualClock } from "../support/virtual_clock.ts";
import { evenRandom, textOf, trackFetch, watch, watchStrays, within } from "./support/harness.ts";
import { together } from "./support/together.ts";

const url = "http://fake.test/mcp";
const strays = watchStrays();

/** The fault of a stream that is listened to; `GET` is the one of the handshake era. */
const storms: readonly (readonly ["modern" | "legacy", FaultName, string])[] = [
  ["modern", "listen-closes", "subscriptions/listen"],
  ["modern", "listen-no-acknowledgement", "subscriptions/listen"],
  ["modern", "listen-flood", "subscriptions/listen"],
  ["modern", "network-error", "subscriptions/listen"],
  ["modern", "empty-stream", "subscriptions/listen"],
  ["modern", "retry-zero", "subscriptions/listen"],
  ["modern", "retry-huge", "subscriptions/listen"],
  ["modern", "http-503-0", "subscriptions/listen"],
  ["legacy", "get-closes", "GET"],
  ["legacy", "network-error", "GET"],
  ["legacy", "breaks-after-event-id", "GET"],
  ["legacy", "retry-zero", "GET"],
  ["legacy", "retry-huge", "GET"],
  ["legacy", "http-503-0", "GET"],
];

describe("F31 reconnecting", () => {
  const cases = new Map<string, () => Promise<void>>();
  for (const [era, fault, on] of storms) {
    const calmly = `http-${era} ${fault}: at most 5 openings in 5 s and 40 in 10 minutes, calls go on`;
    cases.set(calmly, () => calm(era, fault, on));
    if (/huge|no-acknow/.test(fault)) continue; // it would be healthy only after minutes, or never
    const again = `http-${era} ${fault}: the stream comes back when the server is healthy again`;
    cases.set(again, () => recovers(era, fault, on));
  }
  const outcome = together(cases);
  for (const name of cases.keys()) test(name, () => outcome(name));

  test("a call whose stream ends with a new event id each time is polled ever more seldom", async () => {
    const clock = new VirtualClock();
    const healthy = createLegacyServer({ reply: "json" });
    let polls = 0;
    const server = {
      async fetch(request: Request): Promise<Response> {
        const text = request.method === "POST" ? await request.clone().text() : "";
        if (request.method !== "GET" && !text.includes("tools/call")) return await healthy.fetch(request);
        const body = `id: s1_${++polls}\nretry: 0\ndata: \n\n`;
        return new Response(body, { headers: { "content-type": "text/event-stream" } });
      },
    };
    const tracked = trackFetch(memoryFetch(server));
    const client = await clock.until(connect(url, { fetch: tracked.fetch, clock, random: evenRandom }));
    const work = client.callTool("echo");
    const call = watch(work);
    await clock.advance(5_000);
    assertLessOrEqual(polls, 1 + 5);
    await clock.until(work).catch(() => {});
    assertLessOrEqual(polls, 1 + 15);
    const end = call.ended();
    assert(end !== undefined && "error" in end);
    await clock.until(client.close());
    assert(await within(() => tracked.open() === 0, 20));
  });

  test("F33 ten thousand changes while nobody reads are told once", async () => {
    const { clock, client } = await open("modern", "listen-flood", { size: 10_000, times: 1 });
    const subscription = client.listen({ tools: true });
    await clock.settle();
    assertEquals((await subscription.next()).value, { type: "tools" });
    const second = watch(subscription.next());
    await clock.settle();
    const again = second.ended();
    // The stream has ended by now: what else may be told is that something may have been missed.
    if (again !== undefined) assertEquals(again, { value: { done: false, value: { type: "tools", missed: true } } });
    await clock.until(client.close());
    assertEquals(clock.waiting, 0);
  });

  test("nothing was rejected unheard", () => strays.none());
});

async function calm(era: "modern" | "legacy", fault: FaultName, on: string): Promise<void> {
  const { clock, server, client, isOpen } = await open(era, fault, { on, size: 10 });
  const subscription = client.listen({ tools: true });
  const heard = watch(drain(subscription));
  await clock.advance(5_000);
  assertGreater(server.hits(), 0);
  assertLessOrEqual(server.hits(), 5);
  assertEquals(textOf(await clock.until(client.callTool("echo", { text: "on" }))), "on");
  await clock.advance(595_000);
  assertLessOrEqual(server.hits(), 40);
  assertEquals(textOf(await clock.until(client.callTool("echo", { text: "still" }))), "still");
  subscription.close();
  assert(await within(() => heard.ended() !== undefined), "the loop over the changes ends");
  await clock.until(client.close());
  assert(await within(() => isOpen() === 0, 20), "nothing is left open");
  assertEquals(clock.waiting, 0);
}

async function recovers(era: "modern" | "legacy", fault: FaultName, on: string): Promise<void> {
  const { clock, server, client } = await open(era, fault, { on, size: 1, times: 2 });
  const subscription = client.listen({ tools: true });
  const changes: unknown[] = [];
  const heard = watch(drain(subscription, (change) => changes.push(change)));
  await clock.advance(20_000);
  assertEquals(server.hits(), 2);
  changes.length = 0;
  server.healthy.emit({ type: "tools" });
  assert(await within(() => changes.length > 0), "a change is heard");
  await clock.until(client.close());
  assert(await within(() => heard.ended() !== undefined));
}

async function drain(changes: AsyncIterable<unknown>, take: (change: unknown) => void = () => {}): Promise<void> {
  for await (const change of changes) take(change);
}

async function open(era: "modern" | "legacy", fault: FaultName, options: HostileOptions) {
  const clock = new VirtualClock();
  const server = createHostileServer(fault, { era, clock, ...options });
  const tracked = trackFetch(memoryFetch(server));
  const client = await clock.until(connect(url, { fetch: tracked.fetch, clock, random: evenRandom }));
  return { clock, server, client, isOpen: tracked.open };
}
