import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { EarlyChild } from "../../../src/cli/session/early_child.ts";
import type { ExitStatus, ProcessEvents, SpawnCommand } from "../../../src/ports.ts";
import { SpawnError } from "../../../src/protocol/errors.ts";
import { isAlive, until } from "../../suites/spawn.ts";

const skip = process.platform === "win32" ? "it needs a POSIX shell" : false;
const decoder = new TextDecoder();

/** A shell that runs this. */
function shell(script: string): { command: string; args: string[] } {
  return { command: "/bin/sh", args: ["-c", script] };
}

/** Writes down what a program tells. */
function listener(): { events: ProcessEvents; told: string[]; ended: Promise<ExitStatus> } {
  const told: string[] = [];
  let end: (status: ExitStatus) => void = () => {};
  const ended = new Promise<ExitStatus>((resolve) => end = resolve);
  const events: ProcessEvents = {
    output: (chunk) => void told.push(`output ${decoder.decode(chunk)}`),
    outputEnd: () => void told.push("output ends"),
    errorOutput: (chunk) => void told.push(`error ${decoder.decode(chunk)}`),
    exit(status) {
      told.push(`exit ${status.code ?? status.signal}`);
      end(status);
    },
  };
  return { events, told, ended };
}

const again: SpawnCommand = { ...shell("echo second"), env: {} };
const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

describe("a program that is started before its client", () => {
  test("loses nothing of what it told before somebody heard it, and keeps the order", { skip }, async () => {
    const folder = mkdtempSync(join(tmpdir(), "causeway-early-"));
    const file = join(folder, "pid");
    await using child = await EarlyChild.start(shell(`echo $$ > '${file}'; echo out; echo err >&2; exit 3`));
    await until(() => existsSync(file) && readFileSync(file, "utf8").endsWith("\n"), "the number");
    const pid = Number(readFileSync(file, "utf8"));
    rmSync(folder, { recursive: true });
    await until(() => !isAlive(pid), "the end");
    await pause(150);
    const { events, told, ended } = listener();
    await child.spawn(again, events);
    assertEquals(await ended, { code: 3, signal: null });
    await until(() => told.includes("output ends"), "the end of the output");
    const order = (word: string): number => told.indexOf(word);
    assertEquals([...told].sort(), ["error err\n", "exit 3", "output ends", "output out\n"]);
    assert(order("output out\n") < order("output ends"), told.join());
    assert(order("error err\n") < order("exit 3"), told.join());
  });

  test("has told nothing when who takes it has it in hand", { skip }, async () => {
    await using child = await EarlyChild.start(shell("echo out; exit 1"));
    await pause(100);
    const { events, told, ended } = listener();
    const running = await child.spawn(again, events);
    assertEquals([told, running.pid > 0], [[], true]);
    await ended;
  });

  test("is held back while nobody reads, and read on afterwards", { skip }, async () => {
    await using child = await EarlyChild.start(shell("head -c 4000000 /dev/zero; echo done"));
    await pause(100);
    let size = 0;
    const { events, ended } = listener();
    await child.spawn(again, { ...events, output: (chunk) => void (size += chunk.byteLength) });
    await ended;
    await until(() => size >= 4_000_005, "all of it");
    assertEquals(size, 4_000_005);
  });

  test("is given once: the next one that is asked for is another one", { skip }, async () => {
    await using child = await EarlyChild.start(shell("read line; echo first $line"));
    const [first, second] = [listener(), listener()];
    const running = await child.spawn(again, first.events);
    await child.spawn(again, second.events);
    await running.write("hello\n");
    await Promise.all([first.ended, second.ended]);
    assert(first.told.includes("output first hello\n"), first.told.join());
    assert(second.told.includes("output second\n"), second.told.join());
  });

  test("that cannot be started tells it to who takes it, and to nobody else", { skip }, async () => {
    const missing = { command: "/no/such/program" };
    await (await EarlyChild.start(missing))[Symbol.asyncDispose]();
    await using child = await EarlyChild.start(missing);
    await assertRejects(() => child.spawn(again, listener().events), SpawnError, "no such file");
  });

  test("is gone with its group when nobody took it", { skip }, async () => {
    const folder = mkdtempSync(join(tmpdir(), "causeway-early-"));
    const file = join(folder, "told");
    const child = await EarlyChild.start(shell(`trap '' TERM; sleep 30 & echo $! >&2; echo > '${file}'; wait`));
    await until(() => existsSync(file), "the number");
    rmSync(folder, { recursive: true });
    await pause(100);
    await child[Symbol.asyncDispose]();
    const { events, told, ended } = listener();
    // What it wrote is still there to be heard: the number of its own child.
    await child.spawn(again, events);
    await ended;
    const pid = Number(told.find((line) => line.startsWith("error "))?.slice(6));
    assert(pid > 0, told.join());
    await until(() => !isAlive(pid), "the end of its own child");
    assert(told.includes("exit SIGKILL"), told.join());
  });
});

describe("the end of a program", () => {
  test("is hastened by SIGTERM only when it is idle", { skip }, async () => {
    const ends: Record<string, string> = {};
    for (const isIdle of [true, false]) {
      await using child = await EarlyChild.start(shell("cat > /dev/null; exec sleep 30"));
      const { events, ended } = listener();
      const running = await child.spawn(again, events);
      if (isIdle) child.rest();
      running.closeInput();
      // An idle one may take its time on a busy machine; by itself it would end after 30 seconds.
      const status = isIdle ? await ended : await Promise.race([ended, pause(400).then(() => undefined)]);
      ends[isIdle ? "idle" : "at work"] = status?.signal ?? "runs";
      running.kill("SIGKILL");
      await ended;
    }
    assertEquals(ends, { idle: "SIGTERM", "at work": "runs" });
  });

  const linux = process.platform === "linux" ? false : "other systems do not tell whether a program sleeps";
  test("is not hastened while it, or what it has started, is at work on it", { skip: linux }, async () => {
    const work = "n=0; while [ $n -lt 400000 ]; do n=$((n+1)); done";
    for (const script of [`cat > /dev/null; ${work}; exit 7`, `cat > /dev/null; sh -c '${work}'; exit 7`]) {
      await using child = await EarlyChild.start(shell(script));
      const { events, ended } = listener();
      const running = await child.spawn(again, events);
      child.rest();
      running.closeInput();
      assertEquals(await ended, { code: 7, signal: null }, script);
      running.kill("SIGKILL");
    }
  });

  test("needs no signal where the end of the input is enough", { skip }, async () => {
    await using child = await EarlyChild.start(shell("cat > /dev/null; exit 7"));
    const { events, ended } = listener();
    const running = await child.spawn(again, events);
    child.rest();
    running.closeInput();
    assertEquals(await ended, { code: 7, signal: null });
    running.kill("SIGKILL");
  });
});
