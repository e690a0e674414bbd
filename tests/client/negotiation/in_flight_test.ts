/**
 * What becomes of calls in flight while their session gives way to another one.
 */
import { describe, test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import { connect, InvalidParamsError } from "../../../mod.ts";
import type { Client, Snapshot } from "../../../mod.ts";
import { turns, until, url } from "../support.ts";

/** A handshake server whose tools answer the first time when they are told to, then at once; `calls` are the tools as they were called. */
function createHeld() {
  const calls: string[] = [];
  const replies = new Map<string, (response: Response) => void>();
  let sessions = 0;
  let openMore = Promise.resolve();
  const fetch = async (_: string | URL, { body }: RequestInit = {}): Promise<Response> => {
    const { id, method, params } = JSON.parse(await new Response(body ?? "{}").text());
    if (method === "initialize") {
      await openMore;
      const info = {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "x", version: "1" },
      };
      const headers = { "mcp-session-id": `session-${++sessions}` };
      return Response.json({ jsonrpc: "2.0", id, result: info }, { headers });
    }
    if (method !== "tools/call") return new Response(null, { status: id === undefined ? 202 : 405 });
    const isFirst = !calls.includes(params.name);
    calls.push(params.name);
    if (!isFirst) return Response.json({ jsonrpc: "2.0", id, result: { content: [] } });
    const response = await new Promise<Response>((resolve) => replies.set(params.name, resolve));
    return Response.json({ jsonrpc: "2.0", id, ...await response.json() }, response);
  };
  const refuse = (name: string, status: number): void => {
    const error = { code: -32602, message: "No such place" };
    replies.get(name)?.(Response.json({ error }, { status }));
  };
  return {
    fetch: fetch as typeof globalThis.fetch,
    calls,
    refuse,
    lose: (name: string) => replies.get(name)?.(new Response("{}", { status: 404 })),
    /** From now on a session takes until the end of `work` to be opened. */
    delay: (work: Promise<void>) => void (openMore = work),
    get sessions() {
      return sessions;
    },
  };
}

async function restored(server: ReturnType<typeof createHeld>): Promise<Client> {
  const first = await connect(url, { fetch: server.fetch, stream: false });
  const snapshot: Snapshot = JSON.parse(JSON.stringify(first.snapshot()));
  return await connect(snapshot, { fetch: server.fetch, stream: false });
}

describe("a call in flight that its server refuses as wrong", () => {
  test("while another one opens the session anew is not sent again, whether its tool ran or not", async () => {
    const server = createHeld();
    const client = await restored(server);
    let open = (): void => {};
    server.delay(new Promise((resolve) => open = resolve));
    const first = client.callTool("first");
    const second = client.callTool("second");
    const refused = assertRejects(() => second, InvalidParamsError);
    await until(() => server.calls.length === 2);
    server.refuse("first", 400);
    await until(() => client.era === undefined);
    server.refuse("second", 200);
    await turns();
    open();
    await refused;
    await first;
    assertEquals(server.calls, ["first", "second", "first"]);
    await client.close();
  });

  test("once its session was lost, and is another one, is not sent again", async () => {
    const server = createHeld();
    const client = await connect(url, { fetch: server.fetch, stream: false });
    const slow = client.callTool("slow");
    const refused = assertRejects(() => slow, InvalidParamsError);
    await until(() => server.calls.length === 1);
    const quick = client.callTool("quick");
    await until(() => server.calls.length === 2);
    server.lose("quick");
    await quick;
    server.refuse("slow", 400);
    await refused;
    assertEquals([server.calls, server.sessions], [["slow", "quick", "quick"], 2]);
    await client.close();
  });
});
