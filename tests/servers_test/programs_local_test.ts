import { assertEquals, assertMatch } from "@std/assert";
import { type ChildProcess, spawn } from "node:child_process";
import { describe, test } from "node:test";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { denoPath, root, scriptCommand } from "../../tools/programs.ts";
import { isJsonObject, type JsonObject, objectAt } from "../servers/core/wire.ts";
import { checkControl, checkPaths, checkWebSocket } from "./host_checks.ts";
import { modernMeta, textOf } from "./support.ts";

const script = scriptCommand() ?? [];
const deno = denoPath();

interface Program {
  readonly child: ChildProcess;
  /** The next line of the output; undefined when it has ended. */
  line(): Promise<string | undefined>;
  /** The next line as a message. */
  message(): Promise<JsonObject>;
  send(message: JsonObject): void;
  /** How it ended. */
  readonly ended: Promise<number | null>;
}

function start(command: readonly string[]): Program {
  const [program = "", ...rest] = command;
  const child = spawn(program, rest, { cwd: root, stdio: ["pipe", "pipe", "ignore"] });
  const ended = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const line = async () => {
    const next = await lines.next();
    return next.done === true ? undefined : next.value;
  };
  return {
    child,
    ended,
    line,
    async message() {
      const value: unknown = JSON.parse(await line() ?? "null");
      return isJsonObject(value) ? value : {};
    },
    send: (message) => void child.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n"),
  };
}

async function stdio(mode: string, run: (program: Program) => Promise<void>, flags: string[] = []): Promise<void> {
  const program = start([
    ...script,
    fileURLToPath(new URL("../servers/stdio_server.ts", import.meta.url)),
    mode,
    ...flags,
  ]);
  try {
    await run(program);
  } finally {
    program.child.kill("SIGKILL");
    await program.ended;
  }
}

const discover = { id: 1, method: "server/discover", params: { _meta: modernMeta() } };
const clientInfo = { name: "plain", version: "1" };
const hello = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };

describe("the stdio program", () => {
  test("modern: answers line by line and ends with its input", async () => {
    await stdio("modern", async (program) => {
      program.send(discover);
      assertEquals(objectAt(await program.message(), "result").supportedVersions, ["2026-07-28"]);
      const params = { name: "echo", arguments: { text: "a\nb é" }, _meta: modernMeta() };
      program.send({ id: 2, method: "tools/call", params });
      assertEquals(textOf(objectAt(await program.message(), "result")), "a\nb é");
      program.child.stdin?.end();
      assertEquals(await program.ended, 0);
    });
  });

  test("silent-probe: says nothing to server/discover, and initializes", async () => {
    await stdio("silent-probe", async (program) => {
      program.send(discover);
      program.send({ id: 2, method: "initialize", params: hello });
      const message = await program.message();
      assertEquals([message.id, objectAt(message, "result").protocolVersion], [2, "2025-06-18"]);
    }, ["--revision=2025-06-18"]);
  });

  test("exit-on-probe: ends because of server/discover, and initializes without it", async () => {
    await stdio("exit-on-probe", async (program) => {
      program.send(discover);
      assertEquals([await program.ended, await program.line()], [1, undefined]);
    });
    await stdio("exit-on-probe", async (program) => {
      program.send({ id: 2, method: "initialize", params: hello });
      assertEquals((await program.message()).id, 2);
    });
  });

  test("an unknown mode is refused", async () => {
    await stdio("nonsense", async (program) => assertEquals(await program.ended, 2));
  });
});

describe("the test server, served by Deno", () => {
  const skip = deno === undefined ? "deno is not installed" : false;
  test("does what it does on Bun", { skip }, async () => {
    const file = fileURLToPath(new URL("../hosts/test_server.ts", import.meta.url));
    const program = start([deno ?? "", "run", "-A", "--no-check", file]);
    try {
      const base = await program.line() ?? "";
      assertMatch(base, /^http:\/\/127\.0\.0\.1:\d+$/);
      await checkPaths(base, "d");
      await checkControl(base, "d");
      if (typeof WebSocket !== "undefined") await checkWebSocket(base, "d");
    } finally {
      program.child.kill("SIGKILL");
      await program.ended;
    }
  });
});
