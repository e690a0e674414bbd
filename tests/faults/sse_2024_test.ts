/**
 * The fault matrix over HTTP+SSE of 2024-11-05, in memory, on a clock that stands still.
 */
import { assert, assertEquals } from "@std/assert";
import { describe, test } from "node:test";
import { connect } from "../../mod.ts";
import { memoryFetch } from "../servers/memory_fetch.ts";
import { VirtualClock } from "../support/virtual_clock.ts";
import { evenRandom, settle, textOf, trackFetch, watchStrays, within } from "./support/harness.ts";
import { createHostileSse, type SseFault } from "./support/hostile_sse_2024.ts";
import type { PipeFault } from "./support/pipe_faults.ts";
import { together } from "./support/together.ts";
import { pipeRows } from "./table/pipe.ts";
import { isOutcome, type Outcome } from "./table/row.ts";
import { sseRows } from "./table/sse_2024.ts";

const url = "http://fake.test/sse";
const limits = { messageBytes: 2 ** 20, jsonNodes: 100_000 };
const strays = watchStrays();

describe("faults over HTTP+SSE", () => {
  const cases = new Map<string, () => Promise<void>>();
  for (const [name, { f, sse2024: cell }] of Object.entries(pipeRows)) {
    if (!isOutcome(cell)) continue;
    cases.set(`F${f} sse-2024 ${name}: ${cell.ends}`, () => spoilCall(name as PipeFault, cell)); // a key of the table
  }
  for (const [name, { f, cell }] of Object.entries(sseRows)) {
    const run = /^(get|endpoint)-/.test(name) ? spoilStream : spoilCall;
    cases.set(`F${f} sse-2024 ${name}: ${cell.ends}`, () => run(name as SseFault, cell)); // a key of the table
  }
  const outcome = together(cases);
  for (const name of cases.keys()) test(name, () => outcome(name));

  test("nothing was rejected unheard", () => strays.none());
});

async function spoilCall(name: PipeFault | SseFault, cell: Outcome): Promise<void> {
  const clock = new VirtualClock();
  const on = name === "infinite-pages" ? "tools/list" : "tools/call";
  const server = createHostileSse(name, { on, times: cell.sent ?? 1 });
  const tracked = trackFetch(memoryFetch(server));
  const options = { fetch: tracked.fetch, clock, limits, random: evenRandom, verdict };
  const client = await clock.until(connect(url, options));
  const work: Promise<unknown> = on === "tools/list" ? client.listTools() : client.callTool("echo", { text: "hi" });
  const end = await settle(work, cell, clock);
  assertEquals(clock.monotonic(), cell.after ?? 0);
  const calls = () => server.healthy.calls("echo");
  assertEquals([server.hits(), calls(), server.answers()], [cell.sent ?? 1, cell.ran, cell.answers ?? 0]);
  if ("value" in end && on === "tools/call") assertEquals(textOf(end.value as Parameters<typeof textOf>[0]), "hi"); // of callTool
  if (name !== "post-never") { // POSTs go in their order: behind one that is never answered all wait
    const before = calls();
    assertEquals(textOf(await clock.until(client.callTool("echo", { text: "next" }))), "next");
    assertEquals(calls(), before + 1);
  }
  await clock.until(client.close());
  assert(await within(() => tracked.open() === 0, 20), `${tracked.open()} bodies are left open`);
  assertEquals([clock.waiting, server.healthy.streams()], [0, 0], "timers and streams left");
}

/** The stream does not come about: `connect` says why, and leaves nothing behind. */
async function spoilStream(name: PipeFault | SseFault, cell: Outcome): Promise<void> {
  const clock = new VirtualClock();
  const server = createHostileSse(name, { on: "tools/call", times: Infinity });
  const tracked = trackFetch(memoryFetch(server));
  const work = connect(url, {
    fetch: tracked.fetch,
    clock,
    limits,
    random: evenRandom,
    verdict,
    retry: { attempts: 1 },
  });
  await settle(work, cell, clock);
  assertEquals([clock.monotonic(), server.hits()], [cell.after ?? 0, cell.sent ?? 1]);
  assert(await within(() => tracked.open() === 0, 20), `${tracked.open()} bodies are left open`);
  await clock.advance(1_000); // the one timer of a session sleeps a second at most
  assertEquals([clock.waiting, server.healthy.calls("echo"), server.healthy.streams()], [0, 0, 0]);
}

const verdict = { era: "legacy", binding: "http+sse" } as const;
