/** How connections to our server end, on both sides: sessions that are given back or lost, a server that closes, a killed program. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import process from "node:process";
import { describe, test } from "node:test";
import { McpError, PeerExitedError } from "../../../mod.ts";
import { connect } from "../../../src/entry/local.ts";
import { isAlive, until } from "../peers.ts";
import { record } from "../recording.ts";
import { textOf } from "../support.ts";
import { createProgram, startHost } from "./hosts.ts";
import { loadSdk, skipSdk } from "./official.ts";
import { sampleTools, watchedUri } from "./sample.ts";

const info = { name: "official", version: "2.4.0" };

if (skipSdk) test("the official client", { skip: skipSdk }, () => {});
else describe("the official client", officialSuite);

function officialSuite(): void {
  test("gives its session back, and the server knows it no more", async () => {
    const { Client, StreamableHTTPClientTransport } = await loadSdk();
    const host = await startHost("legacy");
    const transport = new StreamableHTTPClientTransport(new URL(host.url));
    const client = new Client(info, { versionNegotiation: { mode: "legacy" } });
    await client.connect(transport);
    const { sessionId = "" } = transport;
    assert(sessionId.length >= 32, sessionId);
    assertEquals((await ping(host.url, sessionId)).status, 200);
    await transport.terminateSession();
    assertEquals((await ping(host.url, sessionId)).status, 404);
    await client.close();
    await host.stop();
  });

  for (const era of ["modern", "legacy"] as const) {
    test(`hears of new tools by its own option, ${era}`, async () => {
      const { Client, StreamableHTTPClientTransport } = await loadSdk();
      const host = await startHost(era);
      let heard: number | undefined;
      const onChanged = (_error: unknown, tools: unknown[] | null) => void (heard = tools?.length);
      const client = new Client(info, {
        versionNegotiation: { mode: "auto" },
        listChanged: { tools: { autoRefresh: true, debounceMs: 10, onChanged } },
      });
      await client.connect(new StreamableHTTPClientTransport(new URL(host.url)));
      await client.listTools();
      await client.callTool({ name: "touch", arguments: {} });
      await until(() => heard !== undefined, "the new list");
      assertEquals(heard, sampleTools.length + 1);
      await client.close();
      await host.stop();
    });
  }

  test("a server that closes ends its stream of changes", async () => {
    const { Client, StreamableHTTPClientTransport } = await loadSdk();
    const host = await startHost("modern");
    const client = new Client(info, { versionNegotiation: { mode: "auto" } });
    await client.connect(new StreamableHTTPClientTransport(new URL(host.url)));
    const { closed } = await client.listen({ toolsListChanged: true });
    await host.stop();
    assertEquals(await closed, "graceful");
    await client.close();
  });
}

describe("our client", () => {
  test("opens a session anew that the server has forgotten, and goes on listening", async () => {
    const host = await startHost("legacy");
    const recording = record();
    const client = await connect(host.url, { fetch: recording.fetch });
    const watch = client.listen({ resourceUris: [watchedUri] });
    await watch.acknowledged;
    const { sessionId = "" } = client.snapshot();
    await fetch(host.url, { method: "DELETE", headers: { "Mcp-Session-Id": sessionId } });
    assertEquals((await client.callTool("add", { a: 1, b: 2 })).structuredContent, { sum: 3 });
    assertEquals(recording.count("initialize"), 2);
    assertEquals((await watch.next()).value, { type: "resource", uri: watchedUri, missed: true });
    await client.callTool("touch");
    assertEquals((await watch.next()).value, { type: "resource", uri: watchedUri });
    watch.close();
    await client.close();
    await host.stop();
  });

  test("goes on elsewhere from a snapshot, in both eras", async () => {
    for (const era of ["modern", "legacy"] as const) {
      const host = await startHost(era);
      await using client = await connect(host.url);
      await client.listTools();
      const recording = record();
      const snapshot = JSON.parse(JSON.stringify(client.snapshot()));
      await using other = await connect(snapshot, { fetch: recording.fetch, stream: false });
      assertEquals((await other.callTool("add", { a: 1, b: 1 })).structuredContent, { sum: 2 });
      assertEquals(recording.sent.map(({ method }) => method), ["tools/call"]);
      await other.close();
      await client.close();
      await host.stop();
    }
  });

  test("a program that is killed fails its call, and the next call has a new one", async () => {
    const recording = record();
    const client = await connect(createProgram()("both"), { spawn: recording.spawn });
    const onProgress = () => process.kill(recording.pids.at(-1) ?? 0, "SIGKILL");
    const error = await assertRejects(() => client.callTool("wait", {}, { onProgress }), McpError);
    assert((error instanceof PeerExitedError ? error : error.cause) instanceof PeerExitedError, String(error));
    assertEquals(await textOf(client.callTool("echo", { text: "again" })), "again");
    await client.close();
    await until(() => !recording.pids.some(isAlive), "the end of the processes");
    assertEquals(recording.pids.length, 2);
  });

  test("a program ends with its client, although a call hangs", async () => {
    const recording = record();
    const client = await connect(createProgram()("both"), { spawn: recording.spawn });
    let closed = Infinity;
    const onProgress = () => {
      closed = performance.now();
      void client.close();
    };
    await assertRejects(() => client.callTool("wait", {}, { onProgress }));
    await until(() => !recording.pids.some(isAlive), "the end of the program");
    assert(performance.now() - closed < 15_000, "it did not sit out the call");
  });
});

function ping(url: string, session: string): Promise<Response> {
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-session-id": session,
    "mcp-protocol-version": "2025-11-25",
  };
  return fetch(url, { method: "POST", headers, body: JSON.stringify({ jsonrpc: "2.0", id: 99, method: "ping" }) });
}
