import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { headStart, plainProgram } from "../../../src/cli/session/head_start.ts";
import { causeway, program as programOf, quote } from "../support.ts";
import { isAlive, until } from "../../suites/spawn.ts";

const skip = process.platform === "win32" ? "it needs a POSIX shell" : false;

describe("a line that names a program beyond doubt", () => {
  test("is one verb, one target that can be nothing else, and words that need no reading", () => {
    const program = { command: "node", args: ["./server.js"] };
    for (
      const argv of [
        ["tools", "node ./server.js"],
        ["tools", "node ./server.js", "--json"],
        ["--json", "resources", "'node' \"./server.js\""],
        ["call", "node ./server.js", "echo"],
        ["call", "node ./server.js", "get-sum", "a=1", "b=two words", "c="],
        ["prompt", "node ./server.js", "simple", "x=y"],
        ["read", "node ./server.js", "demo://resource/1"],
      ]
    ) assertEquals(plainProgram(argv), program, argv.join(" "));
    assertEquals(plainProgram(["tools", "npx -y a-server"]), { command: "npx", args: ["-y", "a-server"] });
  });

  test("is none with options, files, JSON, forms of calls, or what may be a name or a URL", () => {
    const target = "node ./server.js";
    for (
      const argv of [
        [],
        ["tools"],
        ["tools", target, "more"],
        ["tools", target, "--verbose"],
        ["--timeout", "3", "tools", target],
        ["help", target],
        ["watch", target],
        ["tasks", "list", target],
        ["call", target],
        ["call", target, "sum(a: 1)"],
        ["call", target, "sum", "a:=1"],
        ["call", target, "sum", "a"],
        ["call", target, "sum", "@a.json"],
        ["call", target, "sum", "-"],
        ["call", target, "sum", "{}"],
        ["call", target, "sum", "a=1", "="],
        ["call", target, "sum", "a==1"],
        ["read", target],
        ["read", target, "one://a", "two://b"],
        ["tools", "my server"],
        ["tools", "node"],
        ["tools", "./server.sh"],
        ["tools", "https://example.com/mcp -x"],
        ["tools", "A=1 node ./server.js"],
        ["tools", "node './server.js"],
        ["tools", "\u201cnode ./server.js\u201d"],
        ["tools", ""],
        ["__complete", "tools", target],
        ["toString", target],
        ["constructor", target],
      ]
    ) assertEquals(plainProgram(argv), undefined, argv.join(" "));
  });
});

describe("a program with a head start", () => {
  const argv = ["tools", "sh -c 'echo $$ >&2; exec sleep 30'"];
  const program = { command: "sh", args: ["-c", "echo $$ >&2; exec sleep 30"] };

  /** Hears of a program until it tells its number. */
  async function numberOf(child: ReturnType<typeof headStart.take>): Promise<number> {
    let text = "";
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => end = resolve);
    const running = await child?.spawn({ ...program, env: {} }, {
      output: () => {},
      outputEnd: () => {},
      errorOutput: (chunk) => void (text += new TextDecoder().decode(chunk)),
      exit: () => end(),
    });
    await until(() => text.includes("\n"), "the number");
    running?.kill("SIGKILL");
    await ended;
    return Number(text);
  }

  test("is taken once, by who means the same", { skip }, async () => {
    await headStart.begin(argv);
    for (
      const other of [
        { ...program, command: "dash" },
        { ...program, args: ["-c", "echo"] },
        { ...program, args: [...program.args, "x"] },
        { ...program, env: { A: "1" } },
        { ...program, cwd: "/" },
      ]
    ) assertEquals(headStart.take(other), undefined);
    const child = headStart.take(program);
    assertEquals(headStart.take(program), undefined);
    const pid = await numberOf(child);
    assert(pid > 0);
    assertEquals(isAlive(pid), false);
    await headStart.end();
  });

  test("is gone in the end when nobody took it", { skip }, async () => {
    const folder = mkdtempSync(join(tmpdir(), "causeway-head-start-"));
    try {
      const file = join(folder, "pid");
      await headStart.begin(["tools", `sh -c ${quote(`echo $$ > ${file}; exec sleep 30`)}`]);
      await until(() => existsSync(file) && readFileSync(file, "utf8").endsWith("\n"), "the number");
      const pid = Number(readFileSync(file, "utf8"));
      assertEquals(isAlive(pid), true);
      await headStart.end();
      assertEquals(isAlive(pid), false);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("that is missing is told as any other", { skip }, async () => {
    const run = await causeway(["tools", "/no/such/program --flag"]);
    assertEquals([run.code, run.out], [4, ""]);
    assert(/Cannot start "\/no\/such\/program"/.test(run.err), run.err);
  });

  test("gives way to a server of a config that has this name", { skip }, async () => {
    const folder = mkdtempSync(join(tmpdir(), "causeway-head-start-"));
    try {
      const file = join(folder, "pid");
      const name = "sh ./script";
      writeFileSync(join(folder, "script"), `echo $$ > ${quote(file)}; exec sleep 30`);
      const [command = "", ...args] = [...programOf("tests/servers/stdio_server.ts"), "modern"];
      writeFileSync(join(folder, "causeway.json"), JSON.stringify({ mcpServers: { [name]: { command, args } } }));
      const run = await causeway(["call", name, "echo", "text=hi"], { cwd: folder });
      assertEquals({ ...run, err: "" }, { code: 0, out: "hi\n", err: "" }, run.err);
      if (existsSync(file)) assertEquals(isAlive(Number(readFileSync(file, "utf8"))), false);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
