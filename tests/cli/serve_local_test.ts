import type { ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, test } from "node:test";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { UsageError } from "../../src/cli/failure.ts";
import { hostsOf } from "../../src/cli/serve/http.ts";
import { readServeOptions } from "../../src/cli/serve/options.ts";
import { requireToken } from "../../src/cli/serve/token.ts";
import type { Client } from "../../src/client/mod.ts";
import { connect } from "../../src/entry/local.ts";
import { handshake, RawSocket } from "../server/websocket/raw_socket.ts";
import { isAlive } from "../suites/spawn.ts";
import { assertFailure, causeway, inPlace, peer, program, quote } from "./support.ts";

/** Serves over HTTP while `use` runs; then Ctrl-C. Gives how it ended, and whether the server behind is gone. */
async function overHttp(
  words: readonly string[],
  use: (url: string) => Promise<void>,
): Promise<{ code: number | null; err: string; isLeft: boolean }> {
  const folder = mkdtempSync(join(tmpdir(), "causeway-serve-"));
  const pidFile = join(folder, "pid");
  const target = `sh -c ${quote(`echo $$ > ${quote(pidFile)}; exec ${peer("modern")}`)}`;
  let child: ChildProcess | undefined;
  let told = (_: string) => {};
  const url = new Promise<string>((resolve) => told = resolve);
  let err = "";
  try {
    const run = causeway(["bridge", target, "--port", "0", ...words], {
      started: (command) => {
        child = command;
        command.stderr?.on("data", (text: string) => {
          const [found] = /http:\/\/\S+\/mcp/.exec(err += text) ?? [];
          if (found !== undefined) told(found);
        });
      },
    });
    const first = await Promise.race([url, run]);
    if (typeof first !== "string") throw new Error(`it ended: ${JSON.stringify(first)}`);
    await use(first);
    assert(existsSync(pidFile));
    const pid = Number(readFileSync(pidFile, "utf8"));
    assert(isAlive(pid), "the server behind runs");
    process.kill(child?.pid ?? 0, "SIGINT");
    const ended = await run;
    return { code: ended.code, err: ended.err, isLeft: isAlive(pid) };
  } finally {
    child?.kill("SIGKILL");
    rmSync(folder, { recursive: true });
  }
}

/**
 * Lists tools until these are there: servers that take longer than the first answer waits for come later.
 *
 * @throws When they never come: the test ends by its time.
 */
async function toolsOf(client: Client, ...names: readonly string[]): Promise<readonly string[]> {
  for (;;) {
    const { tools } = await client.listTools();
    const found = tools.map(({ name }) => name).sort();
    if (names.every((name) => found.includes(name))) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

describe("causeway serve and bridge", () => {
  test("a program here is reached over HTTP, by this machine's names alone, and is gone after Ctrl-C", async () => {
    const ended = await overHttp([], async (url) => {
      await using client = await connect(url);
      const result = await client.callTool("echo", { text: "over HTTP" });
      assert(JSON.stringify(result).includes("over HTTP"), JSON.stringify(result));
      const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
      const evil = await fetch(url, {
        method: "POST",
        headers: { ...headers, origin: "https://evil.example" },
        body: "{}",
      });
      assertEquals(evil.status, 403);
      await evil.body?.cancel();
      const other = await fetch(url.replace("/mcp", "/other"));
      assertEquals(other.status, 404);
      await other.body?.cancel();
    });
    assertEquals([ended.code, ended.isLeft], [130, false]);
    assert(ended.err.endsWith("causeway: interrupted\n"), ended.err);
  });

  test("however a name of this machine is written, no other one is let in without a token", () => {
    for (const name of ["127.0.0.1", "127.1.2.3", "localhost", "LOCALHOST", "app.localhost", "::1", "[::1]", "0::1"]) {
      const given = { hostname: [name], port: ["0"] };
      assertEquals([readServeOptions(given).http?.tokenFile, hostsOf(name)], [undefined, undefined], name);
    }
    for (const name of ["0.0.0.0", "127.0.0.1.example", "localhost.example"]) {
      assertThrows(() => readServeOptions({ hostname: [name] }), UsageError, "add --token-file");
      assertEquals(hostsOf(name), "*", name);
    }
  });

  test("with a token, only who sends it is let in, and the server behind never sees it", async () => {
    const folder = mkdtempSync(join(tmpdir(), "causeway-token-"));
    const file = join(folder, "token");
    const token = "a-token-of-the-test-0123456789";
    writeFileSync(file, `${token}\n`);
    try {
      const ended = await overHttp(["--token-file", file], async (url) => {
        const invalid = 'Bearer error="invalid_token"';
        for (
          const [headers, challenge, said] of [
            [{}, "Bearer", "A bearer token is needed here"],
            [{ authorization: "Basic YTpi" }, "Bearer", "A bearer token is needed here"],
            [{ authorization: "Bearer another-token-0123456789" }, invalid, "The bearer token is not the one"],
            [{ authorization: "Bearer two tokens" }, invalid, "The bearer token is not the one"],
          ] as const
        ) {
          const refused = await fetch(url, { method: "POST", headers, body: "{}" });
          assertEquals([refused.status, refused.headers.get("www-authenticate")], [401, challenge]);
          // Clients show their user what the reply says.
          const { jsonrpc, error } = await refused.json();
          assert(jsonrpc === "2.0" && error.message.startsWith(said), JSON.stringify(error));
        }
        const port = Number(new URL(url).port);
        for (const authorization of [undefined, "Bearer another-token-0123456789"]) {
          const raw = new RawSocket(port, handshake(port, { authorization }));
          assert(/^HTTP\/1\.1 401 [^]*www-authenticate: Bearer/i.test(await raw.head), await raw.head);
          raw.socket.destroy();
        }
        for (const address of [url, url.replace("http:", "ws:")]) {
          await using client = await connect(address, { headers: { authorization: `Bearer ${token}` } });
          const result = await client.callTool("echo", { text: "with a token" });
          assert(JSON.stringify(result).includes("with a token") && !JSON.stringify(result).includes(token));
        }
      });
      assertEquals([ended.code, ended.isLeft], [130, false]);
      assert(!ended.err.includes(token), ended.err);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("the token is the one that the file holds now; while it holds none, the one before", async () => {
    const folder = mkdtempSync(join(tmpdir(), "causeway-token-"));
    const file = join(folder, "token");
    const [old, young] = ["a-token-of-the-test-0123456789", "another-token-0123456789"];
    try {
      writeFileSync(file, old);
      const auth = await requireToken(file);
      const isLetIn = async (token: string): Promise<boolean> => {
        const headers = { authorization: `Bearer ${token}` };
        return !(await auth(new Request("http://127.0.0.1/mcp", { headers })) instanceof Response);
      };
      assertEquals([await isLetIn(old), await isLetIn(young)], [true, false]);
      writeFileSync(file, young);
      assertEquals([await isLetIn(old), await isLetIn(young)], [false, true]);
      writeFileSync(file, "");
      assertEquals([await isLetIn(old), await isLetIn(young)], [false, true]);
      rmSync(file);
      assertEquals([await isLetIn(""), await isLetIn(young)], [false, true]);
      writeFileSync(file, old);
      assertEquals([await isLetIn(old), await isLetIn(young)], [true, false]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("a program here is reached over WebSocket, behind the same guards, and is gone after Ctrl-C", async () => {
    const ended = await overHttp([], async (url) => {
      await using client = await connect(url.replace("http:", "ws:"));
      const result = await client.callTool("echo", { text: "over WebSocket" });
      assert(JSON.stringify(result).includes("over WebSocket"), JSON.stringify(result));
      const port = Number(new URL(url).port);
      for (
        const [status, headers, path] of [
          [403, { origin: "https://evil.example" }, "/mcp"],
          [403, { host: "evil.example" }, "/mcp"],
          [404, {}, "/other"],
          [101, {}, "/mcp"],
        ] as const
      ) {
        const raw = new RawSocket(port, handshake(port, headers, path));
        const head = await raw.head;
        raw.socket.destroy();
        assert(head.startsWith(`HTTP/1.1 ${status} `), `${status} was due: ${head}`);
      }
    });
    assertEquals([ended.code, ended.isLeft], [130, false]);
    assert(/at http:\S+\/mcp and ws:\S+\/mcp\n/.test(ended.err), ended.err);
    assert(ended.err.endsWith("causeway: interrupted\n"), ended.err);
  });

  test("over stdio: the servers of a config, until the client is gone", async () => {
    const folder = mkdtempSync(join(tmpdir(), "causeway-serve-"));
    const config = join(folder, "mcp.json");
    const [command = "", ...args] = program("tests/servers/stdio_server.ts");
    const server = { command, args: [...args, "modern"] };
    writeFileSync(config, JSON.stringify({ mcpServers: { one: server, two: server, broken: { url: "nothing" } } }));
    const [runtime = "", ...words] = program("src/cli/main.ts");
    try {
      await using client = await connect({ command: runtime, args: [...words, "serve", config] });
      await toolsOf(client, "one__echo", "two__echo");
      const result = await client.callTool("two__echo", { text: "over stdio" });
      assert(JSON.stringify(result).includes("over stdio"), JSON.stringify(result));
      await using only = await connect({ command: runtime, args: [...words, "serve", config, "--servers", "two"] });
      assert((await toolsOf(only, "two__echo")).every((name) => name.startsWith("two__")));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("what a config says of a server is done: its tools, its pins, and that it is disabled", async () => {
    const folder = mkdtempSync(join(tmpdir(), "causeway-serve-"));
    const config = join(folder, "mcp.json");
    const [command = "", ...args] = program("tests/servers/stdio_server.ts");
    const server = { command, args: [...args, "modern"] };
    const write = (pins: object): void => {
      const some = { ...server, tools: { allow: ["echo"] }, idempotent: ["echo"], autoApprove: [] };
      const servers = { some, pinned: { ...server, pins }, off: { ...server, disabled: true } };
      writeFileSync(config, JSON.stringify({ mcpServers: servers }));
    };
    const [runtime = "", ...words] = program("src/cli/main.ts");
    try {
      write({});
      let said = "";
      const told = await causeway(["serve", config], {
        keepsInput: true,
        started: ({ stderr, stdin }) =>
          stderr?.on("data", (text: string) => /is blocked: [^\n]*\n/.test(said += text) && stdin?.end()),
      });
      const [, digest = ""] = /the tool "echo" of "pinned" is blocked: .* \(([\da-f]{64})\)\n/.exec(told.err) ?? [];
      assertEquals([told.code, digest.length], [0, 64], told.err);
      const off = await causeway(["serve", config, "--servers", "some,off"]);
      assert(/^causeway: warning: "off" of ".*" is left out: it is disabled there\n$/.test(off.err), off.err);
      write({ echo: `sha256:${digest}` });
      await using client = await connect({ command: runtime, args: [...words, "serve", config] });
      const names = ["pinned__echo", "some__echo"];
      assertEquals(await toolsOf(client, ...names), names);
      for (const name of names) {
        const result = await client.callTool(name, { text: "as the config says" });
        assert(JSON.stringify(result).includes("as the config says"), JSON.stringify(result));
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("what a program wrote once it was connected is not told as how its output began", async () => {
    // It ends in the middle of a call.
    const read = `while IFS= read -r line; do printf '%s\\n' "$line"; case "$line" in *tools/call*) break; esac; done`;
    const target = `sh -c ${quote(`${read} | ${peer("modern")}; echo Goodbye; exit 3`)}`;
    const [command = "", ...args] = program("src/cli/main.ts");
    let tell = (_: string): void => {};
    const told = new Promise<string>((resolve) => tell = resolve);
    const onStderr = (line: string): void => {
      if (line.includes("exit code 3")) tell(line);
    };
    await using client = await connect({ command, args: [...args, "bridge", target], onStderr });
    await toolsOf(client, "slow");
    const [line] = await Promise.all([told, client.callTool("slow", {})]);
    assertEquals(line.includes("began"), false, line);
  });

  test("what is wrong with one of several names it, though its name be a part of what is said", async () => {
    const mcpServers = { end: { command: "sh", args: ["-c", "exit 3"] }, no: { command: "no-such-program" } };
    await inPlace({ "app/mcp.json": JSON.stringify({ mcpServers }) }, async ({ run }) => {
      const { err } = await run("serve");
      assertEquals(err.trim().split("\n").map((line) => line.split(" ").slice(0, 3).join(" ")).sort(), [
        'causeway: "end": "sh"',
        'causeway: "no": Cannot',
      ]);
      const alone = await run("bridge", "end");
      assert(alone.err.startsWith('causeway: "sh" ended with exit code 3'), alone.err);
    });
  });

  test("Ctrl-C while a program is silent: it is ended, and none is started in its place", async () => {
    const folder = mkdtempSync(join(tmpdir(), "causeway-serve-"));
    const pids = join(folder, "pids");
    const read = () => existsSync(pids) ? readFileSync(pids, "utf8").trim().split("\n") : [];
    try {
      const run = causeway(["bridge", `sh -c ${quote(`echo $$ >> ${quote(pids)}; exec sleep 600`)}`, "--port", "0"], {
        started: (child) => {
          const timer = setInterval(() => {
            if (!read().length) return;
            clearInterval(timer);
            process.kill(child.pid ?? 0, "SIGINT");
          }, 20);
        },
      });
      const { code, err } = await run;
      assertEquals([code, err], [130, "causeway: interrupted\n"]);
      assertEquals(read().map((pid) => isAlive(Number(pid))), [false]);
    } finally {
      for (const pid of read()) if (isAlive(Number(pid))) process.kill(Number(pid), "SIGKILL");
      rmSync(folder, { recursive: true });
    }
  });

  test("bad input is one line and an exit code", async () => {
    const folder = mkdtempSync(join(tmpdir(), "causeway-serve-"));
    const config = join(folder, "mcp.json");
    const short = join(folder, "short");
    writeFileSync(config, JSON.stringify({ mcpServers: { github: { url: "nothing" } } }));
    writeFileSync(short, "short");
    try {
      for (
        const [words, says] of [
          [["serve", join(folder, "none.json")], /Cannot read the config ".*none\.json": there is no such file/],
          [["serve", config, "--servers", "gihtub"], /Unknown server "gihtub" \(did you mean "github"\?\)/],
          [["serve", config, "--hostname", "0.0.0.0"], /Cannot serve at "0\.0\.0\.0" .*: add --token-file/],
          [["serve", config, "--stdio", "--port", "1"], /Cannot use --stdio with --port/],
          [["serve", config, "--port", "x"], /Cannot read --port "x"/],
          [["bridge"], /Name one server: causeway bridge/],
          [["bridge", "a", "b"], /Name one server: causeway bridge/],
          [["bridge", peer("modern"), "--token-file", short], /Cannot use --token-file ".*short": expected one token/],
          [["tools", "x", "--take-turns"], /--take-turns belongs to causeway serve and bridge/],
          [["tools", "x", "--hostname", "y"], /--hostname belongs to causeway serve, bridge and agent/],
        ] as const
      ) assertFailure(await causeway(words), 2, says);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
