import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, test } from "node:test";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { serveHttp } from "../../../src/entry/local.ts";
import { createLegacyServer } from "../../servers/legacy.ts";
import { createModernServer } from "../../servers/modern.ts";
import { assertFailure, causeway, peer, program, quote } from "../support.ts";

async function inFolder(mcpServers: object, run: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "causeway-inspect-"));
  writeFileSync(join(folder, "mcp.json"), JSON.stringify({ mcpServers }));
  try {
    await run(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe("causeway probe", () => {
  test("each revision over a pipe: spoken, and answered otherwise", async () => {
    const both = await causeway(["probe", peer("both")]);
    assertEquals([both.code, both.err], [0, "causeway: fake 1.0.0\n"]);
    assertMatch(
      both.out,
      /^2026-07-28 {2}yes {2}\d+ ms\n2025-11-25 {2}yes {2}\d+ ms\n2025-06-18 {2}no +\d+ ms +it answers with/,
    );
  });

  test("each revision over a pipe, as JSON: spoken, and refused", async () => {
    const { server, revisions } = JSON.parse((await causeway(["probe", peer("modern"), "--json"])).out);
    assertEquals([server, revisions.length], ["fake 1.0.0", 5]);
    assertEquals(revisions.map(({ spoken }: { spoken: boolean }) => spoken), [true, false, false, false, false]);
  });

  test("over HTTP, with the old binding; credentials go along", async () => {
    await using modern = await serveHttp(createModernServer({ token: "let-me-in-please" }).fetch, { port: 0 });
    await using legacy = await serveHttp(createLegacyServer().fetch, { port: 0 });
    const header = "Authorization: Bearer let-me-in-please";
    const [first, second] = await Promise.all([
      causeway(["probe", `${modern.url}/mcp`, "--json", "--header", header]),
      causeway(["probe", `${legacy.url}/mcp`, "--json"]),
    ]);
    const spoken = (out: string) =>
      JSON.parse(out).revisions.flatMap(({ name, spoken }: { name: string; spoken: boolean }) => spoken ? [name] : []);
    assertEquals([spoken(first.out), spoken(second.out)], [["2026-07-28"], ["2025-11-25"]]);
    assertEquals(JSON.parse(first.out).revisions.at(-1).name, "2024-11-05 (HTTP+SSE)");
  });

  test("where nobody answers, one line says so", async () => {
    assertFailure(await causeway(["probe", "causeway-no-such-program"]), 4, /causeway-no-such-program/);
    await using host = await serveHttp(createModernServer({ token: "let-me-in-please" }).fetch, { port: 0 });
    assertFailure(await causeway(["probe", `${host.url}/mcp`]), 3, /Sign in first: causeway login/);
    const deaf = await causeway(["probe", "sh -c 'cat >/dev/null; exit 3'", "--timeout", "300ms"]);
    assertFailure(deaf, 4, /Not done within 300 ms/);
  });
});

describe("causeway doctor", () => {
  const [command = "", ...args] = program("tests/servers/stdio_server.ts");
  const good = { command, args: [...args, "modern"] };

  test("says what works; the exit code is that of the first that does not", async () => {
    await inFolder(
      { good, off: { command: "x", disabled: true }, dead: { command: "causeway-no-such-program" } },
      async (cwd) => {
        const { code, out, err } = await causeway(["doctor"], { cwd });
        assertEquals([code, err], [4, ""]);
        assertMatch(out, /^ok {2}runtime +causeway \d+\.\d+\.\d+ on (Bun|Deno|Node) /);
        assertMatch(out, /\nok {2}config +.*mcp\.json: 3 servers\n/);
        assertMatch(out, /\nok {2}good +2026-07-28: \d+ tools, resources, prompts, \d+ ms\n/);
        assertMatch(out, /\nok {2}off +disabled/);
        assertMatch(out, /\n!! {2}dead +Cannot start "causeway-no-such-program": /);
        const json = await causeway(["servers", "doctor", "good", "--json"], { cwd });
        const { servers, findings } = JSON.parse(json.out);
        assertEquals([json.code, findings, servers.length, servers[0].ok], [0, undefined, 1, true]);
      },
    );
  });

  test("a proxy that is set and not used is wrong; on Node it is used where Node was told to", async () => {
    const cwd = mkdtempSync(join(tmpdir(), "causeway-proxy-"));
    const proxy = { HTTPS_PROXY: "http://127.0.0.1:9", https_proxy: "" };
    const isNode = !("Bun" in globalThis) && !("Deno" in globalThis);
    // What NODE_USE_ENV_PROXY=1 does from Node 24.5 on.
    const agent = 'import http from "node:http"; http.globalAgent.options.proxyEnv = {};';
    const told = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(agent)}` };
    try {
      const plain = await causeway(["doctor"], { cwd, env: proxy });
      const wrong = /\n!! {2}network +HTTPS_PROXY is set, and not used here: set NODE_USE_ENV_PROXY=1/;
      const right = /\nok {2}network +HTTPS_PROXY is set, and the runtime uses it\n/;
      assertEquals(plain.code, isNode ? 2 : 0, plain.out + plain.err);
      assertMatch(plain.out, isNode ? wrong : right);
      const used = await causeway(["doctor"], { cwd, env: { ...proxy, ...(isNode && told) } });
      assertEquals(used.code, 0, used.out + used.err);
      assertMatch(used.out, right);
    } finally {
      rmSync(cwd, { recursive: true });
    }
  });

  test("bad input is one line, with 2", async () => {
    await inFolder({ good }, async (cwd) => {
      assertFailure(await causeway(["doctor", "god"], { cwd }), 2, /Unknown server "god" \(did you mean "good"\?\)/);
    });
    const folder = mkdtempSync(join(tmpdir(), "causeway-none-"));
    assertFailure(await causeway(["servers", "doctor"], { cwd: folder }), 2, /There is no config/);
    assertEquals((await causeway(["doctor"], { cwd: folder })).code, 0);
    rmSync(folder, { recursive: true });
  });
});

describe("causeway completion", () => {
  const [command = "", ...args] = program("tests/servers/stdio_server.ts");

  test("commands, verbs, options and names of servers", async () => {
    await inFolder({ github: { command, args }, "odd name": { command } }, async (cwd) => {
      const ask = async (...words: string[]) =>
        (await causeway(["__complete", ...words], { cwd })).out.split("\n").slice(0, -1);
      assertEquals(await ask("to"), ["tools"]);
      assertEquals(await ask("gi"), ["github"]);
      assertEquals(await ask("servers", "dis"), ["disable", "discover"]);
      assertEquals(await ask("call", ""), ["github"]);
      for (const verb of ["login", "logout", "whoami"]) assertEquals(await ask(verb, "g"), ["github"], verb);
      assertEquals(await ask("--timeout", "3", "tools", "g"), ["github"]);
      assertEquals(await ask("call", "--a"), ["--args"]);
      assertEquals(await ask("call", "--config", ""), []);
      assertEquals(await ask("help", "ser"), ["serve", "servers"]);
      assertEquals(await ask("completion", ""), ["bash", "fish", "zsh"]);
      assertEquals(await ask("read", "github", ""), []);
    });
  });

  test("bash completes with the script", async () => {
    await inFolder({ github: { command, args } }, async (cwd) => {
      const { out } = await causeway(["completion", "bash"]);
      writeFileSync(join(cwd, "script"), out);
      writeFileSync(join(cwd, "causeway"), `#!/bin/sh\nexec ${program("src/cli/main.ts").map(quote).join(" ")} "$@"\n`);
      chmodSync(join(cwd, "causeway"), 0o755);
      const say = `. ./script; COMP_WORDS=(causeway call gi); COMP_CWORD=2; _causeway; echo "\${COMPREPLY[@]}"`;
      const env = { ...process.env, PATH: `${cwd}:${process.env.PATH}` };
      const ran = spawnSync("bash", ["-c", say], { cwd, env });
      assertEquals([String(ran.stdout), ran.status], ["github\n", 0]);
    });
  });

  test("each shell has one; another is one line", async () => {
    for (const shell of ["zsh", "fish"]) {
      const { code, out } = await causeway(["completion", shell]);
      assertEquals(code, 0);
      assertStringIncludes(out, "causeway __complete");
    }
    assertFailure(await causeway(["completion", "bsh"]), 2, /Unknown shell "bsh" \(did you mean "bash"\?\)/);
    assert((await causeway(["completion"])).code === 2);
  });
});
