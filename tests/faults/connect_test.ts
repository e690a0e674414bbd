/**
 * What `connect` comes to when its own requests are spoilt, in memory, on a clock that stands still.
 */
import { assert, assertEquals, assertLessOrEqual } from "@std/assert";
import { describe, test } from "node:test";
import { connect } from "../../mod.ts";
import { createHostileServer, type FaultName, type HostileServer } from "../servers/hostile.ts";
import { memoryFetch } from "../servers/memory_fetch.ts";
import { VirtualClock } from "../support/virtual_clock.ts";
import {
  assertOutcome,
  coarse,
  evenRandom,
  settle,
  textOf,
  trackFetch,
  watch,
  watchStrays,
  within,
} from "./support/harness.ts";
import { together } from "./support/together.ts";
import { connectRows, noticeFaults, sessionFaults } from "./table/connect.ts";
import { type Outcome, violation } from "./table/row.ts";

const url = "http://fake.test/mcp";
const limits = { messageBytes: 2 ** 20, streamBytes: 2 ** 21 };
const strays = watchStrays();

describe("faults while connecting", () => {
  const cases = new Map<string, () => Promise<void>>();
  for (const { faults, discover, initialize = discover } of connectRows) {
    for (const fault of faults) {
      const modern = { era: "modern", on: "server/discover", cell: discover } as const;
      const legacy = { era: "legacy", on: "initialize", cell: initialize } as const;
      cases.set(`server/discover ${fault}: ${discover.ends}`, () => spoil(fault, modern));
      cases.set(`initialize ${fault}: ${initialize.ends}`, () => spoil(fault, legacy));
    }
  }
  for (const fault of sessionFaults) {
    const cell = violation(0);
    cases.set(`initialize ${fault}: ${cell.ends}`, () => spoil(fault, { era: "legacy", on: "initialize", cell }));
  }
  for (const fault of noticeFaults) {
    cases.set(`notifications/initialized ${fault}: connected all the same`, () => spoilNotice(fault));
  }
  const outcome = together(cases);
  for (const name of cases.keys()) test(name, () => outcome(name));

  test("a notice that the server never takes rejects by its time-out, and leaves nothing open", async () => {
    const clock = new VirtualClock();
    const server = createHostileServer("headers-never", { era: "legacy", on: "notifications/roots/list_changed" });
    const tracked = trackFetch(memoryFetch(server));
    const client = await clock.until(connect(url, { fetch: tracked.fetch, clock }));
    const told = watch(client.rootsChanged());
    assert(!await within(() => told.ended() !== undefined, 10));
    await clock.advance(30_000);
    const end = told.ended();
    assert(end !== undefined);
    assertOutcome(end, { ends: "TimeoutError", delivery: "unknown", ran: 0, names: "headers" });
    assertEquals(tracked.open(), 0);
    await client.close();
  });

  test("calls that are given up leave nothing open, also when their notices are never taken", async () => {
    const clock = new VirtualClock();
    const server = createHostileServer("headers-never", { era: "legacy", clock });
    const tracked = trackFetch(memoryFetch(deafTo("notifications/cancelled", server)));
    const timeouts = { headers: 2_000 };
    const client = await clock.until(connect(url, { fetch: tracked.fetch, clock, timeouts }));
    for (let count = 0; count < 6; count++) await clock.until(client.callTool("echo").catch(() => {}));
    assertLessOrEqual(tracked.open(), 6);
    await clock.advance(10_000);
    assertEquals(tracked.open(), 0);
    await client.close();
  });

  test("nothing was rejected unheard", () => strays.none());
});

async function spoil(
  name: FaultName,
  { era, on, cell }: { era: "modern" | "legacy"; on: string; cell: Outcome },
): Promise<void> {
  const clock = new VirtualClock();
  const server = createHostileServer(name, {
    era,
    on,
    clock: name === "drip" ? coarse(clock) : clock,
    ...(/endless|huge|bomb/.test(name) && { size: 2 ** 24 }),
  });
  const tracked = trackFetch(memoryFetch(server));
  const work = connect(url, { fetch: tracked.fetch, clock, limits, random: evenRandom });
  await settle(work, cell, clock);
  assertEquals([clock.monotonic(), server.hits()], [cell.after ?? 0, cell.sent ?? 1]);
  assert(await within(() => tracked.open() === 0, 20), `${tracked.open()} bodies are left open`);
  await clock.advance(1_000); // the one timer of a session sleeps a second at most
  assertEquals([clock.waiting, server.calls("echo")], [0, 0]);
}

async function spoilNotice(name: FaultName): Promise<void> {
  const clock = new VirtualClock();
  const server = createHostileServer(name, { era: "legacy", on: "notifications/initialized", size: 2 ** 24, clock });
  const tracked = trackFetch(memoryFetch(server));
  const client = await clock.until(connect(url, { fetch: tracked.fetch, clock, limits, random: evenRandom }));
  // What may have got lost on its way is sent once more.
  assertEquals(server.hits(), ["network-error", "http-500", "error-body-endless"].includes(name) ? 2 : 1);
  assertLessOrEqual(clock.monotonic(), 30_000);
  assertEquals(textOf(await clock.until(client.callTool("echo", { text: "next" }))), "next");
  await clock.until(client.close());
  assert(await within(() => tracked.open() === 0, 20), `${tracked.open()} bodies are left open`);
}

/** A server that takes one method and never answers it. */
function deafTo(method: string, server: HostileServer): { fetch(request: Request): Promise<Response> } {
  return {
    async fetch(request) {
      const text = await request.clone().text();
      if (!text.includes(`"method":"${method}"`)) return await server.fetch(request);
      return await new Promise((_resolve, reject) => {
        request.signal.addEventListener("abort", () => reject(request.signal.reason), { once: true });
      });
    },
  };
}
