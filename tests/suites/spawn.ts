/**
 * What every adapter of the `Spawn` port must do, with real processes.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import process from "node:process";
import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import type { ExitStatus, ProcessEvents, Spawn, SpawnCommand, SpawnedProcess } from "../../src/ports.ts";
import { SpawnError } from "../../src/protocol/errors.ts";

/** The command that runs one of `tests/servers/children` in the runtime of this test. */
export function child(name: string, ...args: string[]): { command: string; args: string[] } {
  // The tests run from the repository's root, also where they were bundled to somewhere else.
  const file = `${process.cwd()}/tests/servers/children/${name}.mjs`;
  const run = "Deno" in globalThis ? ["run", "-A", "--no-check", "--quiet"] : [];
  return { command: process.execPath, args: [...run, file, ...args] };
}

/** The command that runs one of the shell scripts there. */
export function shell(name: string, ...args: string[]): { command: string; args: string[] } {
  return { command: "/bin/sh", args: [`${process.cwd()}/tests/servers/children/${name}.sh`, ...args] };
}

/** Whether a process is there; one that has ended and waits for its parent does not count. */
export function isAlive(pid: number): boolean {
  if (existsSync("/proc/self/stat")) {
    try {
      const state = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.[0];
      return state !== "Z" && state !== "X";
    } catch {
      return false;
    }
  }
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Waits until something holds; fails after twenty seconds: on a busy machine a process takes its time to start. */
export async function until(holds: () => boolean, what: string): Promise<void> {
  const end = performance.now() + 20_000;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`waited twenty seconds for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

class Heard implements ProcessEvents {
  text = "";
  errors = "";
  bytes = 0;
  ends = 0;
  exits: ExitStatus[] = [];
  hold: Promise<void> | undefined;
  readonly #output = new TextDecoder();
  readonly #errors = new TextDecoder();

  output(chunk: Uint8Array): void | Promise<void> {
    assert(chunk instanceof Uint8Array);
    this.bytes += chunk.length;
    if (this.bytes < 1_000_000) this.text += this.#output.decode(chunk, { stream: true });
    return this.hold;
  }

  outputEnd(): void {
    this.ends++;
  }

  errorOutput(chunk: Uint8Array): void {
    if (this.errors.length < 1_000_000) this.errors += this.#errors.decode(chunk, { stream: true });
  }

  exit(status: ExitStatus): void {
    this.exits.push(status);
  }
}

const env = { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "/" };

/** Registers the tests of one adapter. */
export function spawnSuite(name: string, spawn: Spawn): void {
  const running = new Set<SpawnedProcess>();
  const start = async (command: Partial<SpawnCommand> & { command: string }) => {
    const heard = new Heard();
    const started = await spawn({ args: [], env, ...command }, heard);
    running.add(started);
    return { heard, started };
  };
  const over = async (heard: Heard) => {
    await until(() => heard.exits.length > 0, "the exit");
    for (const each of running) each.kill("SIGKILL");
    running.clear();
    await until(() => heard.ends > 0, "the end of the output");
    await new Promise((resolve) => setTimeout(resolve, 30));
    assertEquals([heard.exits.length, heard.ends], [1, 1], "exit and end are told once");
  };

  describe(`${name}: talking`, () => {
    test("gives back what it was given, and ends with its input", async () => {
      const { heard, started } = await start(child("echo"));
      await started.write("hello\n");
      await started.write("wörld\n");
      await until(() => heard.text === "hello\nwörld\n", "the echo");
      started.closeInput();
      started.closeInput();
      await over(heard);
      assertEquals(heard.exits, [{ code: 0, signal: null }]);
    });

    test("carries a megabyte each way", async () => {
      const { heard, started } = await start(child("echo"));
      const block = "x".repeat(2 ** 20) + "\n";
      await started.write(block);
      await until(() => heard.bytes === block.length, "the echo");
      started.closeInput();
      await over(heard);
    });

    test("arguments and environment reach the child as they are, and nothing else does", async () => {
      const hostile = hostileStrings();
      const given = { ...env, A: "1", "WITH SPACE": "a b", EMPTY: "", QUOTES: `"'\`$HOME`, "UMLAUT": "ü\n" };
      const { heard } = await start({ ...child("report", ...hostile), env: given, cwd: "/" });
      await over(heard);
      const report = JSON.parse(heard.text);
      assertEquals(report.args, hostile);
      assertEquals(report.cwd, "/");
      // What the shell that may stand between sets by itself is not ours.
      for (const own of ["_", "SHLVL", "PWD", "OLDPWD"]) delete report.env[own];
      assertEquals(report.env, given);
    });

    test("ten megabytes on standard error hold nothing up", async () => {
      const { heard } = await start(child("flood", "2", "10000000"));
      await until(() => heard.text === '{"flooded":true}\n', "the word after the flood");
      await over(heard);
    });

    test("output that nobody takes is held back, not kept in memory", async () => {
      const { heard } = await start(child("flood", "1"));
      let release = () => {};
      heard.hold = new Promise<void>((resolve) => release = resolve);
      await until(() => heard.bytes > 0, "the first output");
      const bytes = heard.bytes;
      const before = process.memoryUsage().rss;
      await new Promise((resolve) => setTimeout(resolve, 300));
      assertEquals(heard.bytes, bytes, "no second chunk while the first is held");
      assert(process.memoryUsage().rss - before < 64 * 2 ** 20, "memory stays flat");
      heard.hold = undefined;
      release();
      await until(() => heard.bytes > bytes + 1_000_000, "more output once it is taken");
      for (const each of running) each.kill("SIGKILL");
      await over(heard);
    });
  });

  describe(`${name}: not starting`, () => {
    const refuses = async (command: SpawnCommand, ...parts: string[]) => {
      const heard = new Heard();
      const error = await assertRejects(() => spawn(command, heard), SpawnError);
      for (const part of parts) assert(error.message.includes(part), `${error.message} names ${part}`);
      assertEquals(error.delivery, "not-sent");
      assert(error.cause !== undefined, "the runtime's own error is kept");
      await new Promise((resolve) => setTimeout(resolve, 10));
      assertEquals([heard.exits.length, heard.ends], [0, 0], "no event of what never was");
    };

    test("a command that is not there", async () => {
      await refuses({ command: "causeway-no-such-program", args: [], env }, '"causeway-no-such-program"', "PATH");
      await refuses({ command: "/no/such/file", args: [], env }, '"/no/such/file"', "no such file");
    });

    test("a file that may not be executed, and a folder that is not there", async () => {
      const folder = mkdtempSync(`${tmpdir()}/causeway-spawn-`);
      try {
        writeFileSync(`${folder}/plain.txt`, "no program", { mode: 0o644 });
        mkdirSync(`${folder}/inner`);
        await refuses({ command: `${folder}/plain.txt`, args: [], env }, "plain.txt", "executable");
        await refuses({ command: folder, args: [], env }, folder, "it is a folder");
        await refuses({ command: "./inner", args: [], env, cwd: folder }, "./inner", "it is a folder");
        await refuses({ ...child("echo"), env, cwd: `${folder}/missing` }, "missing", '"cwd"');
        await refuses({ ...child("echo"), env, cwd: `${folder}/plain.txt` }, "plain.txt", '"cwd"');
      } finally {
        rmSync(folder, { recursive: true });
      }
    });

    test("a program of the PATH whose interpreter is missing, and a script that names none", async () => {
      const folder = mkdtempSync(`${tmpdir()}/causeway-spawn-`);
      try {
        writeFileSync(`${folder}/old-tool`, "#!/no/such/python3\n", { mode: 0o755 });
        const path = { PATH: `/no/such/folder:${folder}:/bin` };
        await refuses({ command: "old-tool", args: [], env: path }, `"${folder}/old-tool"`, "interpreter", "install");
        writeFileSync(`${folder}/plain`, "echo plain\n", { mode: 0o755 });
        if (name === "bunSpawn") await refuses({ command: `${folder}/plain`, args: [], env }, "plain", '"#!/bin/sh"');
        else {
          const { heard } = await start({ command: `${folder}/plain` });
          await over(heard);
          assertEquals(heard.text, "plain\n");
        }
      } finally {
        rmSync(folder, { recursive: true });
      }
    });

    test("what no system takes is named, and nothing of it told: it may be a secret", async () => {
      for (
        const [given, named] of [
          [{ args: ["-c", "sk-12345\0b"] }, "the argument 2"],
          [{ env: { ...env, TOKEN: "sk-12345\0b" } }, 'the variable "TOKEN"'],
        ] as const
      ) {
        const error = await assertRejects(
          () => spawn({ command: "sh", args: [], env, ...given }, new Heard()),
          SpawnError,
        );
        assert(error.message.includes(`Cannot start "sh": ${named} holds a NUL`), error.message);
        assert(!`${error.message}${error.stack}${String(error.cause)}`.includes("sk-12345"), String(error.cause));
        assertEquals(error.delivery, "not-sent");
      }
    });
  });

  describe(`${name}: ending`, () => {
    test("that it is about to be told is known once all output has ended, or the process", async () => {
      const shell = (script: string) => start({ command: "sh", args: ["-c", script] });
      const half = await shell("exec >&-; read line; exec 2>&-; read line");
      await until(() => half.heard.ends > 0, "the end of the output");
      assertEquals(half.started.isEnding?.(), false);
      await half.started.write("on\n");
      await until(() => half.started.isEnding?.() === true, "the end of both outputs");
      assertEquals(half.heard.exits, []);
      await half.started.write("on\n");
      await over(half.heard);
      const other = await shell("read line; sleep 5 & exit 3");
      assertEquals(other.started.isEnding?.(), false);
      await other.started.write("on\n");
      await until(() => other.started.isEnding?.() === true, "the end of the process");
      await over(other.heard);
    });

    test("the exit code is told", async () => {
      const { heard } = await start(child("exit", "7", "last words"));
      await over(heard);
      assertEquals(heard.exits, [{ code: 7, signal: null }]);
      assertEquals(heard.errors, "last words\n");
    });

    test("kill -9 from outside is told by the signal's name", async () => {
      const { heard, started } = await start(child("deaf"));
      await until(() => heard.text !== "", "the child");
      process.kill(started.pid, "SIGKILL");
      await over(heard);
      assertEquals(heard.exits, [{ code: null, signal: "SIGKILL" }]);
    });

    test("a write after the end is refused, a signal after it is harmless", async () => {
      const { heard, started } = await start(child("exit", "0"));
      await until(() => heard.exits.length > 0, "the exit");
      const error = await assertRejects(async () => await started.write("too late\n"));
      assert(error instanceof Error && error.message.includes("it has ended"), String(error));
      started.kill("SIGTERM");
      started.kill("SIGKILL");
      started.kill("SIGKILL");
      started.closeInput();
      await over(heard);
    });

    test("a write after closeInput is refused", async () => {
      const { heard, started } = await start(child("echo"));
      started.closeInput();
      await assertRejects(async () => await started.write("too late\n"));
      await over(heard);
    });

    test("a write to an input that the child closed is an error, not a crash", async () => {
      const { heard, started } = await start(shell("mute", "input"));
      await until(() => heard.text !== "", "the child");
      await assertRejects(async () => {
        for (let i = 0; i < 50; i++) {
          await started.write("x\n");
          await new Promise((resolve) => setTimeout(resolve, 2));
        }
      });
      started.kill("SIGKILL");
      await over(heard);
    });

    test("a child that does not read holds writes back; they end with it", async () => {
      const { heard, started } = await start(child("deaf"));
      await until(() => heard.text !== "", "the child");
      const stuck = Promise.resolve(started.write("x".repeat(4 * 2 ** 20))).then(() => "written", () => "refused");
      const early = await Promise.race([stuck, new Promise((resolve) => setTimeout(resolve, 100, "waiting"))]);
      assertEquals(early, "waiting");
      started.kill("SIGKILL");
      assertEquals(await stuck, "refused");
      await over(heard);
    });

    test("the exit is told though a grandchild holds the output; the group can be ended", async () => {
      const { heard, started } = await start(child("family", "leave"));
      await until(() => heard.exits.length > 0, "the exit");
      assertEquals([heard.exits, heard.ends], [[{ code: 0, signal: null }], 0]);
      const { grandchild } = JSON.parse(heard.text);
      assert(isAlive(grandchild));
      started.kill("SIGTERM");
      await until(() => !isAlive(grandchild), "the grandchild's end");
      await until(() => heard.ends === 1, "the end of the output");
      await over(heard);
    });

    test("closed output is told while the child lives", async () => {
      const { heard, started } = await start(shell("mute", "output"));
      await until(() => heard.ends === 1, "the end of the output");
      assertEquals(heard.exits, []);
      assert(isAlive(started.pid));
      started.kill("SIGTERM");
      await over(heard);
      assertEquals(heard.exits, [{ code: null, signal: "SIGTERM" }]);
    });

    test("SIGTERM can be ignored, SIGKILL cannot", async () => {
      const { heard, started } = await start(child("stubborn"));
      await until(() => heard.text !== "", "the child");
      started.kill("SIGTERM");
      await new Promise((resolve) => setTimeout(resolve, 50));
      assertEquals(heard.exits, []);
      started.kill("SIGKILL");
      await over(heard);
      assertEquals(heard.exits, [{ code: null, signal: "SIGKILL" }]);
      assert(!isAlive(started.pid));
    });
  });
}

/** Two hundred arguments that a shell, a quoting rule or an encoding would damage. */
function hostileStrings(): string[] {
  const seeds = [
    ...[
      "",
      " ",
      "a b",
      `"`,
      `'`,
      `\\`,
      `\\\\"`,
      `a\\`,
      "`id`",
      "$(id)",
      "${HOME}",
      "%PATH%",
      "!x!",
      "^",
      "&",
      "|",
      ";",
    ],
    ...[
      "<",
      ">",
      "*",
      "?",
      "[a]",
      "~",
      "{a,b}",
      "#x",
      "--",
      "--flag=x",
      "\n",
      "\r\n",
      "\t",
      "ü",
      "日本",
      "😀",
      "\u202e",
      "=a",
    ],
    ...["&& calc", "| calc", '" & calc & "', "-c", "@file", "a=b", "\u001b[31m", "//", "..", "/etc", "C:\\x y\\"],
  ];
  return Array.from(
    { length: 200 },
    (_, i) => (seeds[i % seeds.length] ?? "") + (i < seeds.length ? "" : seeds[i * 7 % seeds.length]),
  );
}
