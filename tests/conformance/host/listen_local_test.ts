import { assert, assertEquals } from "@std/assert";
import { describe, test } from "node:test";
import { type Handler, listen } from "./listen.ts";

async function serving(handler: Handler, use: (url: string) => Promise<void>): Promise<void> {
  const listener = await listen(handler, 0);
  try {
    await use(`http://localhost:${listener.port}/mcp`);
  } finally {
    await listener.close();
  }
}

describe("the host of the conformance server", () => {
  test("hands over the request whole and the response as it is", async () => {
    const echo: Handler = async (request) => {
      const { method, url, headers } = request;
      const got = [method, new URL(url).pathname, headers.get("mcp-method"), await request.text()];
      return Response.json(got, { status: 404, headers: { "x-own": "kept" } });
    };
    await serving(echo, async (url) => {
      const response = await fetch(url, { method: "POST", headers: { "Mcp-Method": "ping" }, body: "{}" });
      assertEquals([response.status, response.headers.get("x-own")], [404, "kept"]);
      assertEquals(await response.json(), ["POST", "/mcp", "ping", "{}"]);
    });
  });

  test("a stream arrives while it is written, and the handler hears that the client left", async () => {
    let heard: (value: boolean) => void = () => {};
    const left = new Promise<boolean>((resolve) => heard = resolve);
    const endless: Handler = ({ signal }) => {
      signal.addEventListener("abort", () => heard(true));
      const start = (controller: ReadableStreamDefaultController<Uint8Array>) => {
        controller.enqueue(new TextEncoder().encode(": first\n\n"));
      };
      const body = new ReadableStream({ start, cancel: () => heard(true) });
      return Promise.resolve(new Response(body, { headers: { "content-type": "text/event-stream" } }));
    };
    await serving(endless, async (url) => {
      const leaving = new AbortController();
      const response = await fetch(url, { signal: leaving.signal });
      const { value } = await response.body!.getReader().read();
      assertEquals(new TextDecoder().decode(value), ": first\n\n");
      leaving.abort();
      assert(await left);
    });
  });
});
