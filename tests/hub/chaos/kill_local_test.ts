/**
 * A program is killed (`kill -9`) in the middle of calls: ten rounds, a hundred with `CAUSEWAY_CHAOS=full` in the environment:
 *
 *     CAUSEWAY_CHAOS=full bun tools/run.ts test --filter tests/hub/chaos/kill --only bun
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { McpError } from "../../../mod.ts";
import { openHub } from "../../../src/entry/local.ts";
import { watchStrays } from "../../faults/support/harness.ts";
import { isAlive, until } from "../../suites/spawn.ts";
import { stateOf, textOf } from "../support.ts";

const rounds = process.env.CAUSEWAY_CHAOS === "full" ? 100 : 10;
const slowly = { timeout: 600_000 };

const strays = watchStrays();

/** The shell's server, and its books. */
function createProgram(era: "modern" | "legacy") {
  const folder = mkdtempSync(join(tmpdir(), "causeway-chaos-"));
  const ledger = join(folder, "ledger");
  const lines = () => existsSync(ledger) ? readFileSync(ledger, "utf8").split("\n") : [];
  const pids = () => lines().flatMap((line) => line.startsWith("started ") ? [Number(line.slice(8))] : []);
  const args = [join(process.cwd(), "tests/hub/child.sh"), ledger, era];
  return {
    config: { command: "/bin/sh", args, timeouts: { close: 150 }, retryDelay: 50 },
    starts: () => pids().length,
    alive: () => pids().filter(isAlive),
    ran: () => lines().filter((line) => line === "ran").length,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

describe("a program that is killed in the middle of calls", () => {
  for (const era of ["modern", "legacy"] as const) {
    test(`${rounds} times: each call settles with what is known of it, and it is back (${era})`, slowly, async () => {
      const program = createProgram(era);
      const hub = await openHub({ one: program.config });
      let [slowest, ran] = [0, 0];
      for (let round = 0; round < rounds; round++) {
        const client = await hub.client("one");
        const told = [1, 2, 3].map(() => hub.callTool("one.hold"));
        const thrown = [
          hub.callTool("one.hold", {}, { throws: true }),
          client.callTool("hold"),
        ].map((call) => assertRejects(() => call, McpError));
        await until(() => program.ran() === ran + 5, "the calls to arrive");
        const killedAt = performance.now();
        for (const pid of program.alive()) process.kill(pid, "SIGKILL");
        // What is asked while it is away waits for the next one.
        const waiting = hub.callTool("one.echo", { text: "after" });
        for (const { isError, _meta } of await Promise.all(told)) {
          const error = _meta?.["dev.causeway/error"];
          assert(typeof error === "object" && error && "delivery" in error && "server" in error);
          assertEquals([isError, error.delivery, error.server], [true, "unknown", "one"]);
        }
        for (const { delivery, server } of await Promise.all(thrown)) {
          assertEquals([delivery, server === undefined], ["unknown", false]);
        }
        const { isError, _meta, ...late } = await waiting;
        const known = _meta?.["dev.causeway/error"];
        // It was written into the pipe before anybody knew, or it was answered: not both, and never "not-sent" but run.
        if (isError) assertEquals((known as { delivery?: unknown }).delivery, "unknown");
        else assertEquals(textOf(late), "after");
        await until(() => stateOf(hub, "one") === "connected", "the server to be back");
        assertEquals(textOf(await hub.callTool("one.echo", { text: "back" })), "back");
        slowest = Math.max(slowest, performance.now() - killedAt);
        ran += isError ? 6 : 7;
        assertEquals([program.ran(), program.alive().length, program.starts()], [ran, 1, round + 2]);
      }
      const { starts } = program;
      await hub.close();
      await until(() => program.alive().length === 0, "the end of all processes");
      console.log(
        `kill -9 ${era}: ${rounds} rounds, ${5 * rounds} calls unknown, ${starts()} starts, 0 left, ` +
          `back after ${Math.ceil(slowest)} ms at most`,
      );
      program.remove();
    });
  }

  test("nothing was rejected unheard", () => strays.none());
});
