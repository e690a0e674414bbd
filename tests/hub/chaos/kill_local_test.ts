/**
 * A program is killed (`kill -9`) in the middle of calls: ten rounds on Bun, four elsewhere, a hundred with `CAUSEWAY_CHAOS=full` in the environment:
 *
 *     CAUSEWAY_CHAOS=full bun tools/run.ts test --filter tests/hub/chaos/kill --only bun
 */
import process from "node:process";
import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { McpError } from "../../../mod.ts";
import { openHub } from "../../../src/entry/local.ts";
import { watchStrays } from "../../faults/support/harness.ts";
import { hostileProgram } from "../../faults/support/processes.ts";
import { until } from "../../suites/spawn.ts";
import { stateOf, textOf } from "../support.ts";

const rounds = process.env.CAUSEWAY_CHAOS === "full" ? 100 : "Bun" in globalThis ? 10 : 4;
const slowly = { timeout: 600_000 };

const strays = watchStrays();

/** The shell's server without a fault, and how a hub is told of it. */
function createProgram(era: "modern" | "legacy", fault = "none") {
  const program = hostileProgram(fault, era);
  return { ...program, config: { ...program.command, timeouts: { close: 150 }, retryDelay: 50 } };
}

describe("a program that is killed in the middle of calls", () => {
  for (const era of ["modern", "legacy"] as const) {
    test(`${rounds} times: each call settles with what is known of it, and it is back (${era})`, slowly, async () => {
      const [program, other] = [createProgram(era), createProgram(era)];
      const hub = await openHub({ one: program.config, other: other.config });
      let [slowest, ran] = [0, 0];
      for (let round = 0; round < rounds; round++) {
        const client = await hub.client("one");
        const told = [1, 2, 3].map(() => hub.callTool("one.hold"));
        const thrown = [
          hub.callTool("one.hold", {}, { throws: true }),
          client.callTool("hold"),
        ].map((call) => assertRejects(() => call, McpError));
        await until(() => program.ran() === ran + 5, "the calls to arrive");
        assertEquals(textOf(await hub.callTool("one.echo", { text: "beside" })), "beside");
        const killedAt = performance.now();
        for (const pid of program.alive()) process.kill(pid, "SIGKILL");
        // What is asked while it is away waits for the next one.
        const waiting = hub.callTool("one.echo", { text: "after" });
        for (const { isError, _meta } of await Promise.all(told)) {
          const known = { server: "one", code: "peer_exited", delivery: "unknown", retryable: true };
          assertEquals([isError, _meta?.["dev.causeway/error"]], [true, known]);
        }
        for (const { delivery, server } of await Promise.all(thrown)) {
          assertEquals([delivery, server === undefined], ["unknown", false]);
        }
        const { isError, _meta, ...late } = await waiting;
        const known = _meta?.["dev.causeway/error"];
        assertEquals(textOf(await hub.callTool("other.echo", { text: "not disturbed" })), "not disturbed");
        // It was written into the pipe before anybody knew, or it was answered: not both, and never "not-sent" but run.
        if (isError) assertEquals((known as { delivery?: unknown }).delivery, "unknown");
        else assertEquals(textOf(late), "after");
        await until(() => stateOf(hub, "one") === "connected", "the server to be back");
        assertEquals(textOf(await hub.callTool("one.echo", { text: "back" })), "back");
        slowest = Math.max(slowest, performance.now() - killedAt);
        ran += isError ? 7 : 8;
        assertEquals([program.ran(), program.alive().length, program.started()], [ran, 1, round + 2]);
      }
      assertEquals([other.started(), other.ran()], [1, rounds]);
      await hub.close();
      await until(() => program.alive().length + other.alive().length === 0, "the end of all processes");
      console.log(
        `kill -9 ${era}: ${rounds} rounds, ${5 * rounds} calls unknown, ${program.started()} starts, 0 left, ` +
          `back after ${Math.ceil(slowest)} ms at most`,
      );
      program.remove();
      other.remove();
    });
  }

  test("what is not there, or ends at once, is told, and is not started again and again", async () => {
    const [bad, good] = [createProgram("modern", "exit-at-start"), createProgram("modern")];
    const { retryDelay: _, ...config } = bad.config;
    const hub = await openHub({ nowhere: { command: "causeway-no-such-program" }, bad: config, good: good.config });
    assertEquals([...hub.errors].map(([name, error]) => `${name} ${error.name}`), [
      "nowhere SpawnError",
      "bad PeerExitedError",
    ]);
    const results = await Promise.all(
      Array.from({ length: 50 }, () => hub.callTool("bad.echo", { text: "a" }, { timeout: 300 })),
    );
    assertEquals(results.filter(({ isError }) => !isError), []);
    assertEquals(textOf(await hub.callTool("good.echo", { text: "a" })), "a");
    assert(bad.started() <= 10, `${bad.started()} starts`);
    await hub.close();
    await until(() => bad.alive().length + good.alive().length === 0, "the end of all processes");
    bad.remove();
    good.remove();
  });

  test("nothing was rejected unheard", () => strays.none());
});
