import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, test } from "node:test";
import { assertEquals, assertMatch } from "@std/assert";
import { assertFailure, causeway, peer, quote, type Run } from "../support.ts";
import { isAlive } from "../../suites/spawn.ts";

const skip = process.platform === "win32" ? "it needs a POSIX shell" : false;

/** Runs a command on a server that does this when it is asked to end and once its input has ended, and gives what it noted. */
async function served(
  { asked, end }: { asked: string; end: string },
  words: readonly string[] = ["echo", "text=hi"],
  command: readonly string[] = ["call"],
): Promise<{ run: Run; noted: string; pid: number }> {
  const folder = mkdtempSync(join(tmpdir(), "causeway-cli-"));
  const file = join(folder, "noted");
  const pidFile = join(folder, "pid");
  try {
    const note = (text: string): string => `echo ${text} >> ${quote(file)}`;
    // On a busy machine it is asked before the shell goes on: what it does then is said first.
    const script = `echo $$ > ${quote(pidFile)}; trap '${asked}' TERM; ${peer("modern")}; ${end}`
      .replace(/note (\w+)/g, (_, text) => note(text));
    const run = await causeway([...command, `sh -c ${quote(script)}`, ...words]);
    const noted = existsSync(file) ? readFileSync(file, "utf8") : "";
    return { run, noted, pid: existsSync(pidFile) ? Number(readFileSync(pidFile, "utf8")) : 0 };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The same with one that ends by itself, unless the machine stands still for the two seconds that it has: one of three does. */
async function leftAlone(words?: readonly string[], command?: readonly string[]): Promise<{ run: Run; noted: string }> {
  const server = { asked: "note asked; exit", end: "sleep 0.3; note own" };
  let seen = await served(server, words, command);
  for (let tries = 1; tries < 3 && seen.noted !== "own\n"; tries++) seen = await served(server, words, command);
  return seen;
}

describe("causeway call: the end of its server", () => {
  test("one that sits out a timer is asked to end, and is gone when the command has ended", { skip }, async () => {
    const { run, noted, pid } = await served({ asked: "note asked; exit", end: "sleep 30 & wait; note late" });
    assertEquals({ ...run, err: "" }, { code: 0, out: "hi\n", err: "" }, run.err);
    assertEquals(noted, "asked\n");
    assertEquals(isAlive(pid), false);
  });

  test("one that has something to put away gets the time for it", { skip }, async () => {
    const { run, noted, pid } = await served({
      asked: "note begun; sleep 0.3; note done; exit",
      end: "sleep 30 & wait",
    });
    assertEquals(run.out, "hi\n", run.err);
    // Where the machine stood still for the two seconds that each server has, it was asked once more.
    assertMatch(noted, /^(begun\n){1,2}done\n$/);
    assertEquals(isAlive(pid), false);
  });

  test("one that refuses to go is killed, with what it has started", { skip }, async () => {
    const { run, pid } = await served({ asked: "", end: "while :; do sleep 0.05; done" });
    assertEquals(run.out, "hi\n", run.err);
    assertEquals(isAlive(pid), false);
  });

  test("is not hastened when a task may be in work", { skip }, async () => {
    const { run, noted } = await leftAlone(["echo", "text=hi"], ["tasks", "detach"]);
    assertEquals([run.code, run.out, noted], [0, "hi\n", "own\n"], run.err);
  });

  test("is not hastened when the call broke off", { skip }, async () => {
    const { run, noted } = await leftAlone(["slow", "--timeout", "3s"]);
    assertEquals(run.code, 4, run.err);
    assertEquals(noted, "own\n");
  });
});

describe("causeway call: what is wrong is told before a server is started", () => {
  test("for words, files and recordings", { skip }, async () => {
    const folder = mkdtempSync(join(tmpdir(), "causeway-cli-"));
    try {
      const file = join(folder, "started");
      const target = `sh -c ${quote(`touch ${quote(file)}`)}`;
      assertFailure(await causeway(["call", target]), 2, /tool is missing/);
      assertFailure(await causeway(["call", target, "echo", "text"]), 2, /Cannot read the argument/);
      assertFailure(await causeway(["call", target, "echo", "@none.json"]), 2, /no such file/);
      assertFailure(await causeway(["call", target, "echo", "--bogus"]), 2, /Unknown option/);
      assertFailure(await causeway(["call", target, "echo", "--header", "a: b"]), 2, /no headers/);
      assertFailure(await causeway(["record", folder, "call", target, "echo"]), 2, /Cannot record/);
      assertEquals(existsSync(file), false);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
