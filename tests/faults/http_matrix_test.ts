/**
 * The fault matrix over HTTP, in memory, on a clock that stands still: what ends without it was not ended by a timer.
 */
import { assert, assertEquals, assertGreaterOrEqual, assertLessOrEqual } from "@std/assert";
import { describe, test } from "node:test";
import { type Client, connect } from "../../mod.ts";
import { createHostileServer, type FaultName, faultNames, type HostileServer } from "../servers/hostile.ts";
import { memoryFetch } from "../servers/memory_fetch.ts";
import { VirtualClock } from "../support/virtual_clock.ts";
import { coarse, evenRandom, settle, textOf, trackFetch, watchStrays, within } from "./support/harness.ts";
import { together } from "./support/together.ts";
import { httpEras, httpRows } from "./table/http.ts";
import { isOutcome, type Outcome } from "./table/row.ts";

const limits = { messageBytes: 2 ** 20, streamBytes: 2 ** 21, jsonNodes: 100_000 };
const strays = watchStrays();

describe("faults over HTTP", () => {
  test("every fault has a row", () => {
    assertEquals(faultNames().sort(), Object.keys(httpRows).sort());
  });

  const cases = new Map<string, () => Promise<void>>();
  for (const era of httpEras) {
    for (const name of faultNames()) {
      const { f, size, [era]: cell } = httpRows[name];
      if (isOutcome(cell)) cases.set(`F${f} http-${era} ${name}: ${cell.ends}`, () => run(name, era, { cell, size }));
    }
  }
  const outcome = together(cases);
  for (const name of cases.keys()) test(name, () => outcome(name));

  test("nothing was rejected unheard", () => strays.none());
});

async function run(
  name: FaultName,
  era: "modern" | "legacy",
  { cell, size }: { cell: Outcome; size: number | undefined },
): Promise<void> {
  const clock = new VirtualClock();
  const serverClock = name === "drip" ? coarse(clock) : clock;
  const server = createHostileServer(name, { era, clock: serverClock, times: cell.sent ?? 1, ...(size && { size }) });
  const tracked = trackFetch(memoryFetch(server));
  const options = { fetch: tracked.fetch, clock, limits, random: evenRandom };
  const client = await clock.until(connect("http://fake.test/mcp", options));
  const connectedAt = clock.monotonic();
  const work: Promise<unknown> = server.on === "tools/list"
    ? client.listTools()
    : client.callTool("echo", { text: "hi" });
  const end = await settle(work, cell, clock);
  assertEquals(clock.monotonic() - connectedAt, cell.after ?? 0);
  assertEquals([server.hits(), server.calls("echo")], [cell.sent ?? 1, cell.ran], "sent and ran, by the ledger");
  if ("value" in end && server.on === "tools/call") assertText(end.value, "hi");
  if (size !== undefined && cell.names?.endsWith("Bytes")) assertBounded(server);
  await checkAfterwards(client, server, { clock, open: tracked.open, answers: cell.answers ?? 0 });
}

/** The next call works, nothing is left open, nothing waits. */
async function checkAfterwards(
  client: Client,
  server: HostileServer,
  { clock, open, answers }: { clock: VirtualClock; open: () => number; answers: number },
): Promise<void> {
  if (!await within(() => open() === 0, 20)) await clock.advance(1_000); // a stream may end a second after its answer
  assertEquals(open(), 0, "bodies left open");
  const before = server.calls("echo");
  assertText(await clock.until(client.callTool("echo", { text: "next" })), "next");
  assertEquals(server.calls("echo"), before + 1);
  await clock.until(client.close());
  assert(await within(() => open() === 0, 20), "bodies left open after close()");
  assertEquals(clock.waiting, 0, "timers left");
  // The fault asks in the server's name, which knows nothing of it: the answer is what it wonders about.
  const surprises = server.violations.filter((text) => !text.startsWith("an answer to nothing"));
  assertEquals([surprises, server.violations.length], [[], answers]);
}

function assertText(result: unknown, text: string): void {
  assertEquals(textOf(result as Parameters<typeof textOf>[0]), text); // a value that `callTool` gave
}

function assertBounded(server: HostileServer): void {
  assertGreaterOrEqual(server.produced(), 2 ** 20);
  assertLessOrEqual(server.produced(), 2 ** 21 + 2 * 65_536);
  assertEquals(server.cancelled(), 1);
}
