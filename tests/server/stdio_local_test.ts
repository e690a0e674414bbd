import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { connect } from "../../src/entry/local.ts";
import { textOf } from "../client/support.ts";

const file = "tests/server/fixtures/stdio_program.ts";
/** The tests run from the repository's root, also where they were bundled to somewhere else. */
const root = process.cwd();
const [command, ...args] = program();

/** Node 20 cannot strip types: there it runs as a package for Node would carry it. */
function program(): [string, ...string[]] {
  if ("Bun" in globalThis) return [process.execPath, `${root}/${file}`];
  if ("Deno" in globalThis) return [process.execPath, "run", "-A", "--no-check", "--quiet", `${root}/${file}`];
  const folder = mkdtempSync(join(tmpdir(), "causeway-stdio-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const flags = ["--bundle", "--platform=node", "--format=esm", "--target=node20", "--log-level=error"];
  const built = spawnSync(`${root}/node_modules/.bin/esbuild`, [
    `${root}/${file}`,
    ...flags,
    `--outfile=${folder}/program.mjs`,
  ]);
  assertEquals(built.status, 0, `esbuild: ${built.stderr}`);
  return [process.execPath, `${folder}/program.mjs`];
}

/** Runs the program with this input, which then ends. */
async function run(
  lines: readonly unknown[],
  end = true,
): Promise<{ code: number | null; out: unknown[]; err: string }> {
  const { code, out, err } = await runTimed(lines, end);
  return { code, out, err };
}

/** The same, with the time that it took to end after its last word, in milliseconds. */
function runTimed(
  lines: readonly unknown[],
  end = true,
  options: readonly string[] = [],
): Promise<{ code: number | null; out: unknown[]; err: string; ending: number }> {
  return new Promise((resolve, reject) => {
    const child: ChildProcess = spawn(command, [...args, ...options], { stdio: ["pipe", "pipe", "pipe"] });
    let out = "";
    let err = "";
    let heard = performance.now();
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      out += text;
      heard = performance.now();
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => err += text);
    child.stdin?.on("error", () => {});
    child.stdin?.write(lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join(""));
    if (end) child.stdin?.end();
    const timer = setTimeout(() => child.kill("SIGKILL"), 25_000);
    child.on("error", reject);
    child.on("close", (code) => {
      clearTimeout(timer);
      const messages = out.trim().split("\n").filter(Boolean).map((line) => JSON.parse(line));
      resolve({ code, out: messages, err, ending: performance.now() - heard });
    });
  });
}

const clientInfo = { name: "plain", version: "1" };
const hello = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo },
};

function call(id: number, name: string) {
  return { jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: { text: "hi" } } };
}

function texts(out: unknown[]): unknown[] {
  return out.map((message) => {
    const { id, result, error } = message as { id: unknown; result?: { content?: { text: string }[] }; error?: object };
    return [id, result?.content?.[0]?.text ?? (error ?? Object.keys(result ?? {}))];
  });
}

describe("serveStdio, with the client of this library", () => {
  const target = { command, args };

  test("tools are listed and called, and what is large arrives whole", async () => {
    await using client = await connect(target);
    assertEquals(client.info?.server?.name, "stand-in");
    assertEquals((await client.listTools()).tools.length, 7);
    assertEquals(textOf(await client.callTool("echo", { text: "a\nb é" })), "a\nb é");
    const length = 3 * 2 ** 20;
    assertEquals(textOf(await client.callTool("large", { length }))?.length, length);
    const texts = Array.from({ length: 50 }, (_, at) => `call ${at}`);
    const results = await Promise.all(texts.map((text) => client.callTool("echo", { text })));
    assertEquals(results.map(textOf), texts);
  });

  test("the user is asked in the middle of a call", async () => {
    await using client = await connect(target, {
      handlers: { elicitation: () => ({ action: "accept", content: { name: "Ada" } }) },
    });
    assertEquals(textOf(await client.callTool("ask")), "accept Ada");
  });

  test("what others write to the standard output does not reach the client", async () => {
    await using client = await connect(target);
    assertEquals(textOf(await client.callTool("noisy")), "quiet");
    assertEquals(textOf(await client.callTool("echo", { text: "still there" })), "still there");
  });

  test("an aborted call leaves the server in order", async () => {
    await using client = await connect(target);
    await assertRejects(() => client.callTool("hang", {}, { signal: AbortSignal.timeout(50) }));
    assertEquals(textOf(await client.callTool("echo", { text: "next" })), "next");
  });
});

describe("serveStdio as a program", () => {
  test("ends with its input, and what was asked for just before is still answered", async () => {
    const { code, out, err, ending } = await runTimed([hello, call(2, "echo"), call(3, "slow")]);
    assertEquals([code, err], [0, "closed\n"]);
    assertEquals(texts(out).slice(1), [[2, "hi"], [3, "late"]]);
    assert(ending < 5_000, `${ending}`);
  });

  test("a large answer that was asked for just before is whole, also where the process is ended once it has served", async () => {
    const large = { ...call(2, "large").params, arguments: { length: 3 * 2 ** 20 } };
    const { code, out } = await runTimed([hello, { ...call(2, "large"), params: large }], true, ["--exit"]);
    assertEquals([code, String(texts(out).map((each) => (each as unknown[])[1])[1]).length], [0, 3 * 2 ** 20]);
  });

  test("ends with its input although a call hangs", async () => {
    const { code, out } = await run([hello, call(2, "hang"), call(3, "echo")]);
    assertEquals([code, texts(out).slice(1)], [0, [[3, "hi"]]]);
  });

  test("an empty input ends it at once", async () => {
    assertEquals(await run([]), { code: 0, out: [], err: "closed\n" });
  });

  test("noise gets an error and does no harm", async () => {
    const { code, out } = await run(["what?", "", "[]", { id: 7 }, hello]);
    assertEquals(code, 0);
    assertEquals(
      out.slice(0, 3).map((message) => {
        const { id, error: { code } } = message as { id: unknown; error: { code: number } };
        return [id, code];
      }),
      [[null, -32700], [null, -32600], [7, -32600]],
    );
  });

  test("noise of the program goes to its standard error", async () => {
    const { out, err } = await run([hello, call(2, "noisy")]);
    assertEquals(texts(out).slice(1), [[2, "quiet"]]);
    for (const part of ["to be seen by people", "a message", '{"jsonrpc":"2.0"}', "group", "the way here"]) {
      assert(err.includes(part), `"${part}" is missing: ${err}`);
    }
  });

  test("a console that is frozen is no matter", async () => {
    const { code, out } = await runTimed([hello, call(2, "echo")], true, ["--frozen"]);
    assertEquals([code, texts(out).at(-1)], [0, [2, "hi"]]);
  });

  test("noise is no matter where nobody reads the standard error any more", async () => {
    const child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const ask = async (message: unknown): Promise<unknown> => {
      child.stdin.write(`${JSON.stringify(message)}\n`);
      const { done, value } = await lines.next();
      return done ? "it has ended" : texts([JSON.parse(value)])[0];
    };
    child.stdin.on("error", () => {});
    await ask(hello);
    child.stderr.destroy();
    assertEquals(await ask(call(2, "noisy")), [2, "quiet"]);
    await new Promise((resolve) => setTimeout(resolve, 100));
    assertEquals(await ask(call(3, "echo")), [3, "hi"]);
    child.kill("SIGKILL");
  });

  test("a server that closes by itself leaves the process free to exit, though its input is open", async () => {
    const { code, out } = await run([hello, call(2, "leave")], false);
    assertEquals([code, texts(out).slice(1)], [0, [[2, "bye"]]]);
  });
});
