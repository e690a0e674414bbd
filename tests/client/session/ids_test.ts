import { describe, test } from "node:test";
import { assert, assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import { connect, ProtocolViolationError } from "../../../mod.ts";
import { memoryFetch } from "../../servers/memory_fetch.ts";
import { createModernServer } from "../../servers/modern.ts";
import { inEveryWay, type Peer, sent, textOf, url } from "../support.ts";

/** The ids of all requests, in their order. */
function idsOf(server: Peer): unknown[] {
  return [...sent(server, "server/discover"), ...sent(server, "initialize"), ...sent(server, "tools/call")].map((
    { id },
  ) => id);
}

describe("ids of requests", () => {
  inEveryWay(
    "are whole numbers of 31 bits that go up: some servers take no texts (JSON-RPC 2.0, 4)",
    async (client, server) => {
      await client.callTool("echo", { text: "a" });
      await client.callTool("echo", { text: "b" });
      const ids = idsOf(server);
      for (const id of ids) assert(Number.isInteger(id) && Number(id) > 0 && Number(id) < 2 ** 31, `${id}`);
      const [first, second] = sent(server, "tools/call").map(({ id }) => Number(id));
      assertEquals(second, Number(first) + 1);
      assertEquals(new Set(ids).size, ids.length);
    },
  );

  test("begin elsewhere in each session, so that an answer to another's request fits none", async () => {
    const begun = await Promise.all(Array.from({ length: 4 }, async () => {
      const server = createModernServer();
      await using client = await connect(url, { fetch: memoryFetch(server) });
      assertEquals(textOf(await client.callTool("echo", { text: "a" })), "a");
      return sent(server, "tools/call")[0]?.id;
    }));
    assertNotEquals(new Set(begun).size, 1);
  });

  test("the greatest that chance can give, and the least", async () => {
    for (const byte of [0, 255]) {
      const server = createModernServer();
      const random = { bytes: (count: number) => new Uint8Array(count).fill(byte), fraction: () => 0.5 };
      await using client = await connect(url, { fetch: memoryFetch(server), random });
      await client.callTool("echo", { text: "a" });
      for (const id of idsOf(server)) assert(Number(id) > 0 && Number(id) < 2 ** 30, `${id}`);
    }
  });

  test('are compared with their type: "5" is no answer to 5 (JSON-RPC 2.0, 5)', async () => {
    const server = memoryFetch(createModernServer());
    let isSpoilt = false;
    const fetch: typeof server = async (input, init) => {
      const response = await server(input, init);
      if (!isSpoilt) return response;
      const text = (await response.text()).replace(/"id":(\d+)/, '"id":"$1"');
      return new Response(text, { status: response.status, headers: { "content-type": "application/json" } });
    };
    await using client = await connect(url, { fetch });
    isSpoilt = true;
    await assertRejects(() => client.listPrompts(), ProtocolViolationError, "another id");
  });
});
