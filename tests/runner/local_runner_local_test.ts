/** The runner on loopback, over real sockets; and `bun run start` as a process. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, it } from "node:test";
import { connect } from "../../src/entry/local.ts";
import { startLocalRunner } from "../../src/entry/runner/local_runner.ts";
import { endProcess, startProcess } from "../../tools/process.ts";
import { root, scriptCommand } from "../../tools/programs.ts";
import { createServer, inMemory, textOf } from "../hub/support.ts";
import { until } from "../support/clients.ts";

describe("the runner on this machine", () => {
  it("is for whoever has its token or its key", async () => {
    const servers = { alpha: inMemory(createServer("alpha")).config };
    await using local = await startLocalRunner({ port: 0, servers });
    assertMatch(local.url, /^http:\/\/127\.0\.0\.1:\d+$/);
    const token = /^#token=([0-9a-f]{64})$/.exec(new URL(local.signInUrl).hash)?.[1];
    const none = await fetch(`${local.url}/api/tools`);
    assertEquals(none.status, 401);
    await none.body?.cancel();
    const begun = await fetch(`${local.url}/api/session`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token }),
    });
    assertEquals(begun.status, 204);
    const [cookie = ""] = (begun.headers.get("set-cookie") ?? "").split(";");
    await until(() => local.hub.tools().length === 2);
    const { tools } = await (await fetch(`${local.url}/api/tools`, { headers: { cookie } })).json();
    assertEquals(tools.length, 2);
    const called = await fetch(`${local.url}/api/tools/alpha__echo`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${local.apiKey}` },
      body: JSON.stringify({ text: "hi" }),
    });
    assertEquals((await called.json()).content[0].text, "alpha: hi");
  });

  it("serves MCP over HTTP and WebSocket", async () => {
    const servers = { alpha: inMemory(createServer("alpha")).config };
    await using local = await startLocalRunner({ port: 0, servers });
    await until(() => local.hub.tools().length === 2);
    const headers = { authorization: `Bearer ${local.apiKey}` };
    await using http = await connect(`${local.url}/mcp`, { headers });
    assertEquals(textOf(await http.callTool("alpha__echo", { text: "a" })), "alpha: a");
    await using socket = await connect(`${local.url.replace("http", "ws")}/mcp`, { headers });
    assertEquals(textOf(await socket.callTool("alpha__echo", { text: "b" })), "alpha: b");
  });

  it("is started by one command, with the servers of a config", async () => {
    const folder = mkdtempSync(join(tmpdir(), "causeway-start-"));
    const script = scriptCommand();
    assert(script);
    const config = join(folder, "mcp.json");
    writeFileSync(config, JSON.stringify({ mcpServers: { docs: { url: "https://docs.invalid/mcp" }, typo: {} } }));
    const words = [...script, join(root, "tools/run.ts"), "start", "--port", "0", "--key", "--config", config];
    const child = startProcess(words, {});
    let output = "";
    const ended = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
    child.stdout?.setEncoding("utf8").on("data", (text) => output += text);
    child.stderr?.setEncoding("utf8").on("data", (text) => output += text);
    try {
      for (let turns = 0; turns < 600 && !output.includes("API key"); turns++) {
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      const [, url] = /The runner is at (\S+), with 1 servers/.exec(output) ?? [];
      const [, key] = /API key: (\S+)/.exec(output) ?? [];
      assert(url && key, output);
      assertMatch(output, /Begin here, once, within ten minutes: http:\/\/127\.0\.0\.1:\d+\/#token=[0-9a-f]{64}/);
      assertMatch(output, /typo/);
      const response = await fetch(`${url}/api/session`, { headers: { authorization: `Bearer ${key}` } });
      assertEquals(await response.json(), { principal: "owner", tenant: "local", way: "key" });
      // Deno takes a child that it has sent a signal for one that was ended by it.
      process.kill(child.pid ?? 0, "SIGTERM");
      assertEquals(await ended, 0);
    } finally {
      endProcess(child);
      rmSync(folder, { recursive: true });
    }
  });
});
