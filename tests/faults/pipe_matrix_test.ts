/**
 * The fault matrix on pipes in memory, on a clock that stands still.
 */
import { assertEquals } from "@std/assert";
import { describe, test } from "node:test";
import { connect } from "../../mod.ts";
import { VirtualClock } from "../support/virtual_clock.ts";
import { evenRandom, settle, textOf, watchStrays } from "./support/harness.ts";
import { createHostilePipe } from "./support/hostile_pipe.ts";
import type { PipeFault } from "./support/pipe_faults.ts";
import { together } from "./support/together.ts";
import { pipeRows } from "./table/pipe.ts";
import { isOutcome, type Outcome } from "./table/row.ts";

const limits = { messageBytes: 2 ** 20, jsonNodes: 100_000 };
const strays = watchStrays();

describe("faults on pipes", () => {
  const cases = new Map<string, () => Promise<void>>();
  for (const era of ["modern", "legacy"] as const) {
    for (const [name, { f, [era]: cell }] of Object.entries(pipeRows)) {
      if (!isOutcome(cell)) continue;
      cases.set(`F${f} pipe-${era} ${name}: ${cell.ends}`, () => run(name as PipeFault, era, cell)); // a key of the table
    }
  }
  const outcome = together(cases);
  for (const name of cases.keys()) test(name, () => outcome(name));

  test("nothing was rejected unheard", () => strays.none());
});

async function run(name: PipeFault, era: "modern" | "legacy", cell: Outcome): Promise<void> {
  const clock = new VirtualClock();
  const on = name === "infinite-pages" ? "tools/list" : "tools/call";
  const pipe = createHostilePipe(name, { era, on, times: cell.sent ?? 1, limits });
  const client = await clock.until(connect(pipe.transport, { clock, limits, random: evenRandom }));
  assertEquals(client.era, era);
  const work: Promise<unknown> = on === "tools/list" ? client.listTools() : client.callTool("echo", { text: "hi" });
  const end = await settle(work, cell, clock);
  assertEquals(clock.monotonic(), cell.after ?? 0);
  assertEquals([pipe.hits(), pipe.calls(), pipe.answers()], [cell.sent ?? 1, cell.ran, cell.answers ?? 0]);
  const { noise, strays: unplaced } = pipe.transport.stats;
  if (!pipe.transport.ended) assertEquals(noise + unplaced, cell.counted ?? 0, "messages without a place");
  if ("value" in end && on === "tools/call") assertEquals(textOf(end.value as Parameters<typeof textOf>[0]), "hi"); // of callTool
  if (name !== "stuck") { // what takes nothing any more is not healthy again
    const before = pipe.calls();
    assertEquals(textOf(await clock.until(client.callTool("echo", { text: "next" }))), "next");
    assertEquals(pipe.calls(), before + 1);
  }
  await clock.until(client.close());
  // A call that is given up is called off; the server has answered it already, in its own opinion.
  const overlooked = pipe.violations().filter((text) => !text.startsWith("cancelled what does not run"));
  assertEquals([clock.waiting, pipe.open(), overlooked], [0, 0, []], "timers, pipes, and what was overlooked");
}
