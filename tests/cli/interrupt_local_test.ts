import type { ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { isAlive } from "../suites/spawn.ts";
import { causeway, peer, quote } from "./support.ts";

/** Runs the command on a server that tells its process id, interrupts it once `ready` holds, and looks who is left. */
async function interrupt(
  words: (target: (script: string) => string, folder: string) => string[],
  ready: (folder: string) => boolean,
  signal: "SIGINT" | "SIGTERM" = "SIGINT",
): Promise<{ code: number | null; out: string; err: string }> {
  const folder = mkdtempSync(join(tmpdir(), "causeway-cli-"));
  const pidFile = join(folder, "pid");
  const target = (script: string): string => `sh -c ${quote(`echo $$ > ${quote(pidFile)}; ${script}`)}`;
  let child: ChildProcess | undefined;
  try {
    const run = causeway(words(target, folder), { started: (command) => child = command });
    await until(
      () => existsSync(pidFile) && readFileSync(pidFile, "utf8").endsWith("\n") && ready(folder),
      "the server",
    );
    const pid = Number(readFileSync(pidFile, "utf8"));
    assert(isAlive(pid), "the server runs");
    // Not by `child.kill`: Deno then reports the signal instead of the exit code.
    process.kill(child?.pid ?? 0, signal);
    const ended = await run;
    assert(!isAlive(pid), "the server is gone when the command has ended");
    return ended;
  } finally {
    child?.kill("SIGKILL");
    rmSync(folder, { recursive: true });
  }
}

/** Waits until something holds. The machine may be busy with the other runtimes. */
async function until(holds: () => boolean, what: string, longest = 15_000): Promise<void> {
  const end = performance.now() + longest;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`waited ${longest} ms for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const stopped = (code: number) => ({ code, out: "", err: "causeway: interrupted\n" });

describe("causeway: Ctrl-C", () => {
  test("in the middle of a call: 130, one line, and the server is gone", async () => {
    const ended = await interrupt(
      (target, folder) => ["call", target(`tee ${quote(join(folder, "seen"))} | ${peer("modern")}`), "slow"],
      (folder) => existsSync(join(folder, "seen")) && readFileSync(join(folder, "seen"), "utf8").includes("tools/call"),
    );
    assertEquals(ended, stopped(130));
  });

  test("while it still connects to a server that ignores the end of its input", async () => {
    assertEquals(await interrupt((target) => ["tools", target("exec sleep 30")], () => true), stopped(130));
  });

  for (const verb of ["call", "bridge", "start"] as const) {
    test(`a second one ends ${verb} at once, and a server that ignores everything with it`, async () => {
      const folder = mkdtempSync(join(tmpdir(), "causeway-cli-"));
      const [pidFile, seen] = [join(folder, "pid"), join(folder, "seen")];
      const script = `trap '' TERM; echo $$ > ${quote(pidFile)}; tee ${quote(seen)} | ${peer("modern")}; sleep 20`;
      const last = verb === "call" ? "tools/call" : "tools/list";
      let pid = 0;
      try {
        let begin = 0;
        const config = join(folder, "mcp.json");
        writeFileSync(config, JSON.stringify({ mcpServers: { peer: { command: "sh", args: ["-c", script] } } }));
        const target = `sh -c ${quote(script)}`;
        const words = { call: [target, "slow"], bridge: [target], start: ["--port", "0", "--config", config] }[verb];
        const { code } = await causeway([verb, ...words], {
          keepsInput: true,
          started(command) {
            const isBusy = () => existsSync(seen) && readFileSync(seen, "utf8").includes(last);
            void until(isBusy, last).then(() => {
              pid = Number(readFileSync(pidFile, "utf8"));
              begin = performance.now();
              process.kill(command.pid ?? 0, "SIGINT");
              setTimeout(() => process.kill(command.pid ?? 0, "SIGINT"), 300);
            });
          },
        });
        assertEquals(code, 130);
        assert(performance.now() - begin < 1_000, "it has ended at once");
        await until(() => !isAlive(pid), "the end of the server", 1_000);
      } finally {
        if (pid > 0 && isAlive(pid)) process.kill(-pid, "SIGKILL");
        rmSync(folder, { recursive: true });
      }
    });
  }

  test("SIGTERM is obeyed in the same way, with 143", async () => {
    assertEquals(await interrupt((target) => ["tools", target("exec sleep 30")], () => true, "SIGTERM"), stopped(143));
  });
});
