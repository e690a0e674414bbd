import { describe, test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import { Client, HttpTransport } from "../../mod.ts";
import { VirtualClock } from "../support/virtual_clock.ts";

/** A server whose answers to `initialize` and to DELETE wait for the test. */
function createWorld() {
  const seen: string[] = [];
  let endSession = (): void => {};
  const ended = new Promise<void>((resolve) => endSession = resolve);
  const fetch = async (_: string, { method = "GET", body, signal, headers }: RequestInit): Promise<Response> => {
    const sent = typeof body === "string" ? JSON.parse(body).method : "";
    const session = new Headers(headers).get("mcp-session-id");
    seen.push([method, sent, session].filter(Boolean).join(" "));
    if (method === "DELETE") {
      await ended;
      if (signal?.aborted) seen.push("called off");
      return new Response(null, { status: 204 });
    }
    if (sent !== "initialize") return new Response("no", { status: 400 });
    const answer = new ReadableStream<Uint8Array>({
      start(controller) {
        signal?.addEventListener("abort", () => controller.error(signal.reason));
      },
    });
    return new Response(answer, {
      headers: { "content-type": "application/json", "mcp-session-id": "s1" },
    });
  };
  return { seen, fetch, endSession };
}

describe("closing over HTTP", () => {
  for (const by of ["signal", "client", "transport"] as const) {
    test(`while the answer to initialize is read, the session is ended too, by the ${by}`, async () => {
      const clock = new VirtualClock();
      const { seen, fetch, endSession } = createWorld();
      const transport = new HttpTransport("http://localhost/mcp", { fetch, clock });
      const client = new Client(transport, { clock });
      const controller = new AbortController();
      const connecting = assertRejects(() => client.ping({ signal: controller.signal }));
      await clock.settle();
      assertEquals(seen.at(-1), "POST initialize");
      if (by === "signal") controller.abort(new Error("not wanted any more"));
      endSession();
      if (by !== "transport") void client.close();
      void transport.close();
      await clock.until(connecting);
      assertEquals(seen.slice(-2), ["POST initialize", "DELETE s1"]);
    });
  }

  test("from within the end of an exchange, the session is ended once", async () => {
    const clock = new VirtualClock();
    const { seen, fetch, endSession } = createWorld();
    const transport = new HttpTransport("http://localhost/mcp", { fetch, clock, sessionId: "s1" });
    const closing: Promise<void>[] = [];
    const end = (): void => void closing.push(transport.close());
    const options = { legacy: true } as const;
    for (const id of [1, 2]) transport.send({ jsonrpc: "2.0", id, method: "ping" }, { message() {}, end }, options);
    let over = false;
    const closed = transport.close().then(() => over = true);
    await clock.settle();
    assertEquals(over, false);
    endSession();
    await clock.until(closed);
    await clock.until(Promise.all(closing));
    assertEquals([closing.length, seen], [2, ["POST ping s1", "POST ping s1", "DELETE s1"]]);
  });

  test("whoever closes it too waits for the same end", async () => {
    const clock = new VirtualClock();
    const { seen, fetch, endSession } = createWorld();
    const transport = new HttpTransport("http://localhost/mcp", { fetch, clock, sessionId: "s1" });
    let over = 0;
    const closing = [transport.close(), transport.close()];
    for (const one of closing) void one.then(() => over++);
    await clock.settle();
    assertEquals([over, seen], [0, ["DELETE s1"]]);
    endSession();
    await Promise.all(closing);
    assertEquals([over, seen, transport.sessionId], [2, ["DELETE s1"], undefined]);
  });
});
