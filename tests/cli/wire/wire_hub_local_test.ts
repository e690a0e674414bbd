/** The wire of commands that use several servers, or serve them: each line names its server, and no secret is in it. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, test } from "node:test";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { loadHeardHub } from "../../../src/cli/wire/heard_hub.ts";
import { connect, serveHttp } from "../../../src/entry/local.ts";
import { createModernServer } from "../../servers/modern.ts";
import { assertFailure, causeway, program, quote } from "../support.ts";

const secrets = { one: "t0p-s3cret-of-one", two: "t0p-s3cret-of-two" };

/** Two servers that want a token each, in the config of a folder. */
async function withServers(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "causeway-wire-hub-"));
  await using one = await serveHttp(createModernServer({ token: secrets.one }).fetch, { port: 0 });
  await using two = await serveHttp(createModernServer({ token: secrets.two }).fetch, { port: 0 });
  const entry = (url: string, token: string) => ({ url: `${url}/mcp`, headers: { Authorization: `Bearer ${token}` } });
  const mcpServers = { one: entry(one.url, secrets.one), two: entry(two.url, secrets.two) };
  writeFileSync(join(folder, "mcp.json"), JSON.stringify({ mcpServers }));
  try {
    await run(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function linesOf(file: string): { at: number; to: string; server?: string; message: Record<string, unknown> }[] {
  return readFileSync(file, "utf8").trim().split("\n").map((line) => JSON.parse(line));
}

function assertNoSecret(text: string): void {
  for (const secret of Object.values(secrets)) assertEquals(text.includes(secret), false, text);
}

describe("the wire of several servers", () => {
  test("--verbose of a search names each server, and runs on one clock", async () => {
    await withServers(async (cwd) => {
      const { code, out, err } = await causeway(["search", "echo", "--limit", "1", "--verbose"], { cwd });
      assertEquals(code, 0, err);
      assertMatch(out, /^one\.echo /);
      for (const name of ["one", "two"]) {
        assertMatch(err, new RegExp(`^> ${name} \\d+ ms \\{.*"method":"tools/list"`, "m"));
        assertMatch(err, new RegExp(`^< ${name} \\d+ ms \\{.*"result"`, "m"));
      }
      const times = [...err.matchAll(/^[<>] \w+ (\d+) ms /gm)].map(([, at]) => Number(at));
      assertEquals(times, times.toSorted((one, other) => one - other));
    });
  });

  test("a run is recorded without the secrets of any server, and each of them can be replayed", async () => {
    await withServers(async (cwd) => {
      const prompt = `call one.echo text=${secrets.one}\ncall two.echo text=${secrets.two}`;
      const { code, err } = await causeway(["record", "wire.ndjson", "run", prompt, "--yes"], { cwd });
      assertEquals(code, 0, err);
      const file = join(cwd, "wire.ndjson");
      assertNoSecret(readFileSync(file, "utf8"));
      const lines = linesOf(file);
      assertEquals(new Set(lines.map(({ server }) => server)), new Set(["one", "two"]));
      const calls = lines.filter(({ message }) => message.method === "tools/call");
      assertEquals(calls.map(({ server, to }) => [server, to]), [["one", "server"], ["two", "server"]]);
      const self = [...program("src/cli/main.ts"), "replay", file];
      const replay = (...words: string[]): string => [...self, ...words].map(quote).join(" ");
      const [one, none, wrong] = await Promise.all([
        causeway(["call", replay("one"), "echo", "text=[redacted]"]),
        causeway(["tools", replay()]),
        causeway(["tools", replay("three")]),
      ]);
      assertEquals([one.code, one.out], [0, "[redacted]\n"], one.err);
      assertFailure(none, 4, /it has "(one|two)", "(one|two)"; write causeway replay .* <server>/);
      assertFailure(wrong, 4, /Unknown server "three" in ".*wire\.ndjson": it has "/);
    });
  });

  for (const words of [["bridge", "one"], ["serve", "--servers", "one"]]) {
    test(`what goes through causeway ${words[0]} is recorded`, async () => {
      await withServers(async (cwd) => {
        const file = join(cwd, "wire.ndjson");
        const [command = "", ...args] = [...program("src/cli/main.ts"), "record", file, ...words];
        {
          await using client = await connect({ command, args, cwd });
          const { tools } = await client.listTools();
          const name = tools.find((tool) => /(^|__)echo$/.test(tool.name))?.name;
          assert(name);
          const { content } = await client.callTool(name, { text: secrets.one });
          assertEquals(content, [{ type: "text", text: secrets.one }]);
        }
        assertNoSecret(readFileSync(file, "utf8"));
        const calls = linesOf(file).filter(({ message }) => message.method === "tools/call");
        assertEquals(calls.map(({ server, to }) => [server, to]), [["one", "server"]]);
      });
    });
  }

  test("a server that no config has goes by its place, without what its own headers say", async () => {
    await using one = await serveHttp(createModernServer({ token: secrets.one }).fetch, { port: 0 });
    const { stderr } = process;
    const { write } = stderr;
    let told = "";
    Object.assign(stderr, { write: (text: string, done?: () => void) => (told += text, done?.(), true) });
    try {
      const line = { command: "start", words: [], json: false, verbose: true, headers: {} } as const;
      const openHub = await loadHeardHub(
        { ...line, timeout: undefined, config: undefined, args: undefined },
        new Map(),
      );
      await using hub = await openHub({});
      await hub.add("added", { url: `${one.url}/mcp`, headers: { Authorization: `Bearer ${secrets.one}` } });
      await hub.callTool("added__echo", { text: `it is ${secrets.one}` });
    } finally {
      Object.assign(stderr, { write });
    }
    assertMatch(told, /^> 127\.0\.0\.1:\d+ \d+ ms .*"it is \[redacted\]"/m);
    assertNoSecret(told);
  });

  test("a probe is recorded; what uses no server is not, and makes no file", async () => {
    await withServers(async (cwd) => {
      assertEquals((await causeway(["record", "probe.ndjson", "probe", "one"], { cwd })).code, 0);
      assert(linesOf(join(cwd, "probe.ndjson")).some(({ message }) => message.method === "initialize"));
      const refused = await causeway(["record", "doctor.ndjson", "doctor"], { cwd });
      assertFailure(refused, 2, /Cannot record causeway doctor: only commands that use servers/);
      assertEquals(existsSync(join(cwd, "doctor.ndjson")), false);
    });
  });
});
