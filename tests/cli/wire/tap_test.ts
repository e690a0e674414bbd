import { describe, test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import { connect } from "../../../mod.ts";
import { tapTransport } from "../../../src/cli/wire/tap.ts";
import { HttpTransport } from "../../../src/transport/http.ts";
import { createLegacyServer } from "../../servers/legacy.ts";
import { createModernServer } from "../../servers/modern.ts";
import { heldRequest } from "../../support/held_request.ts";

/** Calls a call off over HTTP: which messages of that the server was sent, and which were told of. */
async function calledOff(server: { fetch(request: Request): Promise<Response> }): Promise<Record<string, unknown[]>> {
  const seen: Record<string, unknown[]> = { sent: [], told: [] };
  const keep = (where: string, message: object): void => {
    const { method, params } = message as { method?: unknown; params?: { requestId?: unknown } };
    if (method === "notifications/cancelled") seen[where]?.push(params?.requestId === id);
  };
  let id: unknown;
  const stop = new AbortController();
  const transport = new HttpTransport("http://localhost/mcp", {
    fetch(url, init) {
      if (init.method === "POST") keep("sent", JSON.parse(String(init.body)));
      return server.fetch(heldRequest(url, init));
    },
  });
  const tapped = tapTransport(transport, ({ message }) => {
    keep("told", message);
    if (!("method" in message) || message.method !== "tools/call" || !("id" in message)) return;
    id = message.id;
    queueMicrotask(() => stop.abort(new Error("enough")));
  });
  await using client = await connect(tapped);
  await assertRejects(() => client.callTool("slow", {}, { signal: stop.signal }), Error, "enough");
  return seen;
}

describe("the wire over HTTP, where a call is called off", () => {
  test("tells of what a server of the older era is sent", async () => {
    assertEquals(await calledOff(createLegacyServer()), { sent: [true], told: [true] });
  });

  test("tells of nothing more to a modern one: the end of its request says it", async () => {
    assertEquals(await calledOff(createModernServer()), { sent: [], told: [] });
  });
});
