import { describe, test } from "node:test";
import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { ChannelTransport, connect, createMemoryPair } from "../../../mod.ts";
import { createLegacyServer } from "../../servers/legacy.ts";
import { memoryFetch } from "../../servers/memory_fetch.ts";
import { createModernServer } from "../../servers/modern.ts";
import { createPipeServer } from "../../servers/pipe.ts";
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

  for (const era of ["modern", "legacy"] as const) {
    test(`come back as texts from some servers, as both official clients take them (${era} HTTP)`, async () => {
      const server = memoryFetch(era === "modern" ? createModernServer() : createLegacyServer());
      const fetch: typeof server = async (input, init) => {
        const response = await server(input, init);
        return response.ok ? new Response(spelled(await response.text()) || null, response) : response;
      };
      await using client = await connect(url, { fetch });
      assertEquals(textOf(await client.callTool("echo", { text: "a" })), "a");
    });

    test(`come back as texts from some servers (${era} pipe)`, async () => {
      const [near, far] = createMemoryPair();
      const server = createPipeServer({ era, send: (text) => far.write([spelled(text)]), exit() {} });
      await far.open({ text: (text) => server.receive(text), end: () => server.close() });
      await using client = await connect(new ChannelTransport(() => near));
      assertEquals(textOf(await client.callTool("echo", { text: "a" })), "a");
      assertEquals(server.violations, []);
    });
  }
});

/** As some write it who keep all ids as texts. */
function spelled(text: string): string {
  return text.replace(/"id":(\d+)/g, '"id":"$1"');
}
