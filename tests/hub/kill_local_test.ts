/**
 * Servers that are killed in the middle of calls, as the system kills them.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { openHub } from "../../src/entry/local.ts";
import { watchStrays } from "../faults/support/harness.ts";
import { isAlive, until } from "../suites/spawn.ts";
import { stateOf, textOf } from "./support.ts";

const strays = watchStrays();

/** How often each server is killed: CAUSEWAY_KILLS=100 for the long form. */
const rounds = Number(process.env.CAUSEWAY_KILLS ?? 10);

/** A program of its own, and what it did. */
function createProgram(era: "modern" | "legacy", ...rest: string[]) {
  const folder = mkdtempSync(join(tmpdir(), "causeway-hub-"));
  const file = join(folder, "ledger");
  const lines = () => existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
  const script = join(process.cwd(), "tests/hub/child.sh");
  const started = () => lines().flatMap((line) => line.startsWith("started") ? [Number(line.split(" ")[1])] : []);
  return {
    config: { command: "/bin/sh", args: [script, file, era, ...rest], timeouts: { close: 150 } },
    started: () => started().length,
    ran: () => lines().filter((line) => line === "ran").length,
    alive: () => started().filter(isAlive),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

describe("kill -9 in the middle of a call", () => {
  for (const era of ["modern", "legacy"] as const) {
    test(`${rounds} times: each call settles, the server is back, the other is not disturbed (${era})`, async () => {
      const [bad, good] = [createProgram(era), createProgram(era)];
      const hub = await openHub({ bad: { ...bad.config, retryDelay: 50 }, good: good.config });
      const echo = async (server: string) => textOf(await hub.callTool(`${server}__echo`, { text: server }));
      for (let round = 1; round <= rounds; round++) {
        const held = hub.callTool("bad__hold");
        assertEquals([await echo("bad"), bad.ran()], ["bad", 2 * round]);
        for (const pid of bad.alive()) process.kill(pid, "SIGKILL");
        const { isError, _meta } = await held;
        const error = _meta?.["dev.causeway/error"];
        assertEquals([isError, error], [
          true,
          { server: "bad", code: "peer_exited", delivery: "unknown", retryable: true },
        ]);
        assertEquals(await echo("good"), "good");
        await until(() => stateOf(hub, "bad") === "connected", "the server to be back");
        assertEquals([bad.alive().length, bad.started()], [1, round + 1]);
      }
      assertEquals([good.started(), good.ran()], [1, rounds]);
      await hub.close();
      await until(() => bad.alive().length + good.alive().length === 0, "the end of all processes");
      bad.remove();
      good.remove();
    });
  }

  test("a program that is not there, or ends at once, is told, and is not started again and again", async () => {
    const [bad, good] = [createProgram("modern", "exit"), createProgram("modern")];
    const hub = await openHub({
      nowhere: { command: "causeway-no-such-program" },
      bad: bad.config,
      good: good.config,
    });
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
