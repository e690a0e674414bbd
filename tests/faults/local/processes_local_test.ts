/**
 * The fault matrix on real child processes.
 */
import { assert, assertEquals, assertLess, assertRejects } from "@std/assert";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, test } from "node:test";
import { ConnectionClosedError, PeerExitedError, SpawnError } from "../../../mod.ts";
import { connect } from "../../../src/entry/local.ts";
import { until } from "../../suites/spawn.ts";
import { leapingClock } from "../../support/clocks/leaping_clock.ts";
import { assertOutcome, textOf, watch, watchStrays } from "../support/harness.ts";
import { connectProgram, hostileProgram } from "../support/processes.ts";
import { together } from "../support/together.ts";
import { type ProcessRow, processRows } from "../table/processes.ts";

const strays = watchStrays();

describe("faults of processes", () => {
  const cases = new Map<string, () => Promise<void>>();
  for (const era of ["modern", "legacy"] as const) {
    for (const [name, row] of Object.entries(processRows)) {
      cases.set(`F${row.f} process-${era} ${name}: ${row.cell.ends}`, () => run(name, era, row));
    }
  }
  const outcome = together(cases, 6);
  for (const name of cases.keys()) test(name, () => outcome(name));

  test("F44 a program that is not there, or may not be run: SpawnError, at once", async () => {
    const folder = mkdtempSync(join(tmpdir(), "causeway-faults-"));
    const file = join(folder, "no_program");
    writeFileSync(file, "#!/bin/sh\n", { mode: 0o644 });
    for (const command of ["causeway-no-such-program", join(folder, "nothing"), file]) {
      const error = await assertRejects(() => connect({ command }), SpawnError);
      assertEquals(error.delivery, "not-sent");
      assert(error.message.includes(command));
    }
    rmSync(folder, { recursive: true });
  });

  test("F44 a program that ends at once says why: exit code and the end of its standard error", async () => {
    const program = hostileProgram("exit-at-start", "modern");
    const error = await assertRejects(() => connect(program.command), PeerExitedError);
    assertEquals([error.exitCode, error.stderr?.trim()], [3, "API_KEY is missing"]);
    assertEquals([program.ran(), program.alive()], [0, []]);
    program.remove();
  });

  test("F45 a program that ended between two calls is started again; where that is off, the call was not sent", async () => {
    for (const reconnect of [true, false]) {
      const program = hostileProgram("none", "modern");
      const client = await connect(program.command, { reconnect, timeouts: { close: 150 } });
      await client.callTool("echo", { text: "one" });
      for (const pid of program.alive()) kill(pid);
      await until(() => program.alive().length === 0, "its end");
      // The news arrives: turn by turn, since one long wait may be over before it, where this process was held up.
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setTimeout(resolve, 10));
      const call = client.callTool("echo", { text: "two" });
      if (reconnect) assertEquals(textOf(await call), "two");
      else assertEquals((await assertRejects(() => call, ConnectionClosedError)).delivery, "not-sent");
      assertEquals([program.ran(), program.started()], reconnect ? [2, 2] : [1, 1]);
      await client.close();
      program.remove();
    }
  });

  test("nothing was rejected unheard", () => strays.none());
});

async function run(name: string, era: "modern" | "legacy", { cell, exit }: ProcessRow): Promise<void> {
  const program = hostileProgram(name, era);
  const clock = leapingClock();
  const client = await connectProgram(program, clock);
  try {
    assertEquals(client.era, era);
    const startedAt = performance.now();
    const work = client.callTool("echo", { text: "hi" });
    const call = watch(work);
    if (cell.ends === "TimeoutError") {
      await until(() => program.ran() === cell.ran, "the call to arrive");
      clock.leap(60_000);
    }
    await work.catch(() => {});
    const took = performance.now() - startedAt;
    const end = call.ended();
    assert(end !== undefined);
    assertOutcome(end, cell);
    assertLess(took, 20_000, "it ended by the fault: its time-out is 60 s"); // tools/faults.ts measures it
    assertEquals(program.ran(), cell.ran);
    if ("value" in end) assertEquals(textOf(end.value), "hi");
    else if (exit !== undefined) {
      assert(end.error instanceof PeerExitedError);
      assertEquals([end.error.exitCode ?? null, end.error.signal ?? null], [exit.exitCode, exit.signal]);
      if (name === "exit") assertEquals(end.error.stderr?.trim(), "out of cheese");
    }
    if (name !== "deaf" && name !== "close-input") { // they live on and hear nothing
      assertEquals(textOf(await client.callTool("echo", { text: "next" })), "next");
      assertEquals(program.ran(), cell.ran + 1);
    }
  } finally {
    const startedAt = performance.now();
    await client.close();
    assertLess(performance.now() - startedAt, 20_000);
    await until(() => program.alive().length === 0, "the end of all processes");
    program.remove();
  }
}

function kill(pid: number): void {
  process.kill(pid, "SIGKILL");
}
