import { test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import { connect, ProtocolViolationError } from "../../../mod.ts";
import { createLegacyServer } from "../../servers/legacy.ts";
import { memoryFetch } from "../../servers/memory_fetch.ts";
import { sent, url } from "../support.ts";

test("servers in PHP and Zig write `[]` for an empty result: ping, levels of logs and resources to watch work", async () => {
  const server = createLegacyServer();
  const honest = memoryFetch(server);
  const fetch: typeof honest = async (input, init) => {
    const response = await honest(input, init);
    if (init?.method !== "POST") return response;
    const text = (await response.text()).replace(/"result":\{("tools":\[.*\])?\}/, '"result":[]');
    return new Response(text || null, response);
  };
  await using client = await connect(url, { fetch });
  await client.ping();
  await client.setLogLevel("warning");
  assertEquals(await client.subscribeResource("test://watched").acknowledged.then(({ resourceUris }) => resourceUris), [
    "test://watched",
  ]);
  assertEquals(["ping", "logging/setLevel", "resources/subscribe"].map((method) => sent(server, method).length), [
    1,
    1,
    1,
  ]);
  // What has to be in a result is missed all the same.
  await assertRejects(() => client.listTools(), ProtocolViolationError, '"tools" is missing');
});
