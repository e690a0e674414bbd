/** The runner on loopback, over real sockets; and `bun run start` as a process. */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, it } from "node:test";
import { connect, openDatabase } from "../../src/entry/local.ts";
import { startLocalRunner } from "../../src/entry/runner/local_runner.ts";
import { readHubConfig } from "../../src/hub/mod.ts";
import { createTasks, McpServer } from "../../src/server/mod.ts";
import { endProcess, startProcess } from "../../tools/process.ts";
import { root, scriptCommand } from "../../tools/programs.ts";
import { skip } from "../agent/runs/support/database.ts";
import { createServer, inMemory, textOf } from "../hub/support.ts";
import { until } from "../support/clients.ts";
import { freePort } from "../support/free_port.ts";

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

  it("leaves nothing open when an option makes no sense", { skip }, async () => {
    const port = await freePort();
    const database = await openDatabase(":memory:");
    const agents = [{ name: "no name" }];
    await assertRejects(() => startLocalRunner({ port, database, agents }), TypeError, "no name");
    // Nobody has the port, and nothing looks after runs.
    await using local = await startLocalRunner({ port });
    assertEquals(local.url, `http://127.0.0.1:${port}`);
    database.close?.();
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

  it("takes what a server asks to the client at /mcp whose call it is", async () => {
    const server = new McpServer({ name: "asker", version: "1.0.0" });
    server.tool("ask", {}, async (_, { elicit, log }) => {
      log("warning", "about to ask");
      const { action } = await elicit({ message: "Shall it?", requestedSchema: { type: "object", properties: {} } });
      return action;
    });
    for (const behind of ["modern", "legacy"] as const) {
      const servers = { asker: inMemory(server, { eras: [behind] }).config };
      await using local = await startLocalRunner({ port: 0, servers });
      await until(() => local.hub.tools().length === 1);
      for (const era of ["modern", "legacy"] as const) {
        const logged: unknown[] = [];
        await using client = await connect(`${local.url}/mcp`, {
          headers: { authorization: `Bearer ${local.apiKey}` },
          handlers: {
            elicitation: () => ({ action: "accept", content: {} }),
            log: ({ data }) => void logged.push(data),
          },
          logLevel: "info",
          verdict: { era },
        });
        assertEquals(textOf(await client.callTool("asker__ask")), "accept", `${behind} behind, ${era} in front`);
        assert(logged.includes("about to ask"), `${behind} behind, ${era} in front`);
      }
    }
  });

  it("has called at /mcp what can only run as a task", async () => {
    for (const behind of ["modern", "legacy"] as const) {
      const server = new McpServer({ name: "slow", version: "1.0.0" });
      server.tool("must", { task: "required" }, () => "done");
      const config = inMemory(server, { eras: [behind], serves: createTasks({ pollInterval: 5 }) }).config;
      await using local = await startLocalRunner({ port: 0, servers: { slow: config } });
      await until(() => local.hub.tools().length === 1);
      for (const era of ["modern", "legacy"] as const) {
        await using client = await connect(`${local.url}/mcp`, {
          headers: { authorization: `Bearer ${local.apiKey}` },
          verdict: { era },
        });
        assertEquals(textOf(await client.callTool("slow__must")), "done", `${behind} behind, ${era} in front`);
      }
    }
  });

  it("keeps runs in a file: what waits goes on when it is started again", { skip }, async () => {
    const folder = mkdtempSync(join(tmpdir(), "causeway-runs-"));
    const calls: string[] = [];
    const server = new McpServer({ name: "post", version: "1.0.0" });
    server.tool("send", { description: "Sends a text", input: { type: "object" } }, ({ text }) => {
      calls.push(String(text));
      return "sent";
    });
    const start = async () => {
      const database = await openDatabase(join(folder, "runs.db"));
      const local = await startLocalRunner({ port: 0, servers: { post: inMemory(server).config }, database });
      await until(() => local.hub.tools().length === 1);
      const headers = { authorization: `Bearer ${local.apiKey}`, "content-type": "application/json" };
      const ask = async (path: string, body?: object) =>
        await (await fetch(`${local.url}${path}`, {
          headers,
          ...(body && { method: "POST", body: JSON.stringify(body) }),
        })).json();
      return { ask, end: async () => (await local.close(), database.close?.()) };
    };
    const waits = async (ask: Awaited<ReturnType<typeof start>>["ask"], id: string, wanted: string) => {
      let run = await ask(`/api/runs/${id}`);
      for (let turns = 0; turns < 2_000 && run.state !== wanted; turns++) {
        await new Promise((resolve) => setTimeout(resolve, 10));
        run = await ask(`/api/runs/${id}`);
      }
      assertEquals(run.state, wanted, JSON.stringify(run));
      return run;
    };
    try {
      const first = await start();
      assertEquals((await first.ask("/api/agents")).agents.map(({ name }: { name: string }) => name), ["helper"]);
      const { id } = await first.ask("/api/runs", { agent: "helper", input: "call post.send text=hi" });
      const { questions: [question] } = await waits(first.ask, id, "needs_input");
      await first.end();
      const second = await start();
      await second.ask(`/api/runs/${id}/input`, { question: question.id, answer: { action: "accept" } });
      await waits(second.ask, id, "succeeded");
      assertEquals(calls, ["hi"]);
      await second.end();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("does what the config says of tools: pins, approved ones, sign-ins", async () => {
    const server = createServer("alpha");
    const config = { url: "https://alpha.invalid/mcp", autoApprove: ["echo"], pins: { echo: "0".repeat(64) } };
    const { servers: notes } = readHubConfig({ mcpServers: { alpha: config } }, { environment: {} });
    await using local = await startLocalRunner({ port: 0, servers: { alpha: inMemory(server).config }, notes });
    await until(() => local.hub.tools().length === 2);
    const headers = { authorization: `Bearer ${local.apiKey}` };
    const { tools } = await (await fetch(`${local.url}/api/tools`, { headers })).json();
    // Its definition is another one than the config names.
    assertEquals(tools, []);
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
      const [, url] = /The runner is at (\S+), with 1 server\n/.exec(output) ?? [];
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
