import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { Client, connect, HttpTransport, listenFeature } from "../../../mod.ts";
import type { Progress } from "../../../mod.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";

/** A server as older Python SDKs make it: how far a call is stands on the stream that belongs to no request. */
function createServer(clock: VirtualClock): (url: string, init: RequestInit) => Promise<Response> {
  const text = new TextEncoder();
  const stream = (begin: (send: (message: object) => void) => void): Response => {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) =>
        begin((message) =>
          controller.enqueue(text.encode(`data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`))
        ),
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
  let tell = (_message: object): void => {};
  return async (_url, { method, body }) => {
    if (method === "GET") return stream((send) => tell = send);
    if (method !== "POST") return new Response(null, { status: 200 });
    const request = JSON.parse(body instanceof Blob ? await body.text() : String(body));
    const { id } = request;
    if (request.method === "initialize") {
      const result = {
        protocolVersion: "2025-06-18",
        capabilities: { tools: {} },
        serverInfo: { name: "py", version: "1" },
      };
      return Response.json({ jsonrpc: "2.0", id, result }, { headers: { "mcp-session-id": "one" } });
    }
    if (request.method !== "tools/call") {
      return id === undefined ? new Response(null, { status: 202 }) : new Response(null, { status: 400 });
    }
    const { progressToken } = request.params._meta;
    return stream((send) => {
      for (const progress of [1, 2, 3]) {
        const params = { progressToken, progress };
        clock.schedule(() => tell({ method: "notifications/progress", params }), progress * 40_000);
      }
      clock.schedule(() => send({ id, result: { content: [{ type: "text", text: "done" }] } }), 160_000);
    });
  };
}

/** Calls the tool that takes longer than a call may be silent. */
async function callSlow(clock: VirtualClock, client: Client): Promise<void> {
  const heard: Progress[] = [];
  const call = client.callTool("slow", {}, { onProgress: (progress) => heard.push(progress) });
  const { content } = await clock.until(call);
  assertEquals(content, [{ type: "text", text: "done" }]);
  assertEquals(heard.map(({ progress }) => progress), [1, 2, 3]);
  await clock.until(client.close());
}

describe("how far a call is, told on the stream of no request", () => {
  test("is heard, and extends the time of the call", async () => {
    const clock = new VirtualClock();
    const client = await clock.until(
      connect("http://localhost/mcp", { fetch: createServer(clock), clock, handlers: { log() {} } }),
    );
    await callSlow(clock, client);
  });

  test("is heard where nothing else is: the stream is opened for it, once", async () => {
    const clock = new VirtualClock();
    const server = createServer(clock);
    let streams = 0;
    const fetch = (url: string, init: RequestInit) => {
      if (init.method === "GET") streams++;
      return server(url, init);
    };
    const client = await clock.until(connect("http://localhost/mcp", { fetch, clock }));
    assertEquals(streams, 0);
    await clock.until(client.callTool("slow", {}, { timeout: 200_000 }));
    assertEquals(streams, 0);
    await clock.until(client.callTool("slow", {}, { onProgress: () => {} }));
    await callSlow(clock, client);
    assertEquals(streams, 1);
  });

  test("is heard by the call that opens the session itself", async () => {
    const clock = new VirtualClock();
    const transport = new HttpTransport("http://localhost/mcp", { fetch: createServer(clock), clock });
    await callSlow(clock, new Client(transport, { clock, features: { listen: listenFeature } }));
  });
});
