import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { isAlive } from "../suites/spawn.ts";
import { causeway, peer, program, quote } from "./support.ts";

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

/** What is in a file; nothing where there is none. */
function readIf(path: string): string {
  return existsSync(path) ? readFileSync(path, "utf8") : "";
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
      const [pidFile, seen, closed] = [join(folder, "pid"), join(folder, "seen"), join(folder, "closed")];
      const input = `{ tee ${quote(seen)}; echo > ${quote(closed)}; }`;
      const script = `trap '' TERM; echo $$ > ${quote(pidFile)}; ${input} | ${peer("modern")}; sleep 20`;
      const last = verb === "call" ? "tools/call" : "tools/list";
      let pid = 0;
      try {
        const config = join(folder, "mcp.json");
        writeFileSync(config, JSON.stringify({ mcpServers: { peer: { command: "sh", args: ["-c", script] } } }));
        const target = `sh -c ${quote(script)}`;
        const words = { call: [target, "slow"], bridge: [target], start: ["--port", "0", "--config", config] }[verb];
        const { code, err } = await causeway([verb, ...words], {
          keepsInput: true,
          started(command) {
            const isBusy = () => existsSync(seen) && readFileSync(seen, "utf8").includes(last);
            const stop = (): boolean => process.kill(command.pid ?? 0, "SIGINT");
            void until(isBusy, last).then(async () => {
              pid = Number(readFileSync(pidFile, "utf8"));
              stop();
              // Two that come while a busy machine lets nothing run are one to it: what the first one brings about has to be seen.
              await until(() => existsSync(closed), "the first signal");
              stop();
            }).catch(() => {}); // It has ended: what it said is looked at below.
          },
        });
        // After one alone it waits two seconds or four for such a server, and then says that it was interrupted.
        assertEquals([code, err.includes("interrupted")], [130, false], "it has ended at once");
        await until(() => !isAlive(pid), "the end of the server");
      } finally {
        if (pid > 0 && isAlive(pid)) process.kill(-pid, "SIGKILL");
        rmSync(folder, { recursive: true });
      }
    });
  }

  for (const [signal, code] of [["SIGTERM", 143], ["SIGHUP", 129]] as const) {
    test(`${signal} is obeyed where nobody takes the results`, async () => {
      const folder = mkdtempSync(join(tmpdir(), "causeway-cli-"));
      const [pidFile, first] = [join(folder, "pid"), join(folder, "first")].map(quote);
      const words = [...program("src/cli/main.ts"), "call", peer("modern"), "big", "bytes=3000000"].map(quote).join(
        " ",
      );
      const reader = `{ head -c 1 > ${first}; sleep 30; }`;
      const script = `{ ${words} & echo $! > ${pidFile}; wait $!; echo "code $?" >&2; } | ${reader}`;
      const shell = spawn("sh", ["-c", script], { stdio: ["ignore", "ignore", "pipe"], detached: true });
      try {
        let err = "";
        shell.stderr.setEncoding("utf8").on("data", (text: string) => err += text);
        const told = () => [readIf(join(folder, "first")), readIf(join(folder, "pid"))];
        await until(() => told().every((text) => text !== ""), "the first of the results, and which program it is");
        const pid = Number(readIf(join(folder, "pid")));
        assert(pid > 0, "which program it is");
        process.kill(pid, signal);
        await until(() => err.includes("code"), "the end");
        assertEquals(err, `causeway: interrupted\ncode ${code}\n`);
      } finally {
        process.kill(-(shell.pid ?? 0), "SIGKILL");
        rmSync(folder, { recursive: true });
      }
    });
  }

  const isFillable = process.platform === "linux" ? false : "the size of a pipe is known of Linux alone";
  const unread: [what: string, words: readonly string[], end: number][] = [
    ["SIGTERM", [], 143],
    ["--timeout", ["--timeout", "2"], 4],
    ["--timeout of what is done", ["--timeout", "6", "--verbose"], 0],
  ];
  for (const [what, options, end] of unread) {
    test(`${what} is obeyed where nobody takes what is said, once there is no room`, { skip: isFillable }, async () => {
      const folder = mkdtempSync(join(tmpdir(), "causeway-cli-"));
      const [pidFile, server, code] = [join(folder, "pid"), join(folder, "server"), join(folder, "code")];
      const silent = `sh -c ${quote(`echo $$ > ${quote(server)}; exec sleep 30`)}`;
      const words = [...program("src/cli/main.ts"), ...options, "tools", end === 0 ? peer("modern") : silent];
      // In a file, since Deno reads what is given to a shell beside its own name.
      const script = join(folder, "script");
      writeFileSync(
        script,
        `{
          head -c 65536 /dev/zero >&3
          ${words.map(quote).join(" ")} > /dev/null 2>&3 &
          echo $! > ${quote(pidFile)}
          wait $!
          echo $? > ${quote(code)}
        } 3>&1 | sleep 60`,
      );
      const shell = spawn("sh", [script], { stdio: "ignore", detached: true });
      try {
        await until(() => end === 0 || readIf(server).endsWith("\n"), "the server");
        if (what === "SIGTERM") process.kill(Number(readIf(pidFile)), what);
        await until(() => readIf(code).endsWith("\n"), "the end");
        assertEquals(readIf(code), `${end}\n`);
      } finally {
        process.kill(-(shell.pid ?? 0), "SIGKILL");
        const pid = Number(readIf(server));
        if (pid > 0 && isAlive(pid)) process.kill(pid, "SIGKILL");
        rmSync(folder, { recursive: true });
      }
    });
  }

  test("SIGTERM is obeyed in the same way, with 143", async () => {
    assertEquals(await interrupt((target) => ["tools", target("exec sleep 30")], () => true, "SIGTERM"), stopped(143));
  });
});

// Elsewhere no system tells; Node itself listens to the signal that was to be ignored.
const skip = process.platform === "linux" && ("Bun" in globalThis || "Deno" in globalThis)
  ? false
  : "nohup cannot be told here";

/** Starts the runner, sends SIGHUP and then SIGTERM, and says what became of it and how much it still said. */
async function hangUp(isNohup: boolean): Promise<{ code: number | null; answered: boolean; err: string }> {
  const command = program("src/cli/main.ts").map(quote).join(" ");
  const script = `${isNohup ? "trap '' HUP; " : ""}exec ${command} start --port 0`;
  const env = { ...process.env, CAUSEWAY_HOME: join(tmpdir(), "causeway-no-such-home") };
  const child = spawn("sh", ["-c", script], { env, cwd: tmpdir(), stdio: ["ignore", "pipe", "pipe"] });
  try {
    let [out, err, hasEnded] = ["", "", false];
    child.stdout.setEncoding("utf8").on("data", (text: string) => out += text);
    child.stderr.setEncoding("utf8").on("data", (text: string) => err += text);
    const ended = new Promise<number | null>((resolve) => child.on("close", resolve)).finally(() => hasEnded = true);
    await until(() => out.includes("Begin here"), "the runner");
    const [url = ""] = /http:\S+\d/.exec(out) ?? [];
    process.kill(child.pid ?? 0, "SIGHUP");
    // Whoever is ended by it is gone before long; whoever is not answers.
    if (!isNohup) await until(() => hasEnded, "the end");
    const answered = await fetch(url).then(({ status }) => status === 200, () => false);
    if (!hasEnded) process.kill(child.pid ?? 0, "SIGTERM");
    return { code: await ended, answered, err };
  } finally {
    child.kill("SIGKILL");
  }
}

describe("causeway: a terminal that is closed", () => {
  test("ends it, with 129", { skip }, async () => {
    assertEquals(await hangUp(false), { code: 129, answered: false, err: "causeway: interrupted\n" });
  });

  test("does not end what nohup has started", { skip }, async () => {
    assertEquals(await hangUp(true), { code: 143, answered: true, err: "causeway: interrupted\n" });
  });
});
