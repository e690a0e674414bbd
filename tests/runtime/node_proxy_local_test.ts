/** `createNodeFetch` where Node was told to take the proxies of the environment. */
import { createServer, globalAgent } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { createNodeFetch } from "../../src/runtime/node.ts";
import type { HostLookup } from "../../src/runtime/node_fetch.ts";

const { options = {} } = globalAgent as { options?: { proxyEnv?: object | undefined } };
const skip = "proxyEnv" in options ? false : "Node has that since 24.5";

/** Sends a request to a name that is the server's here, while the server is the proxy, too; gives what the server was asked for. */
async function sentTo(lookup?: HostLookup): Promise<string> {
  const server = createServer((request, response) => void response.end(request.url));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const before = options.proxyEnv;
  options.proxyEnv = { HTTP_PROXY: `http://127.0.0.1:${port}` };
  const own = createNodeFetch({ lookup });
  try {
    const reply = await own.fetch(`http://mcp.example.com:${port}/mcp`, { method: "POST", body: "hello" });
    return (await reply.text()).replace(`:${port}`, "");
  } finally {
    options.proxyEnv = before;
    own.close();
    server.close();
  }
}

describe("a proxy of the environment", () => {
  test("is taken where Node is told to", { skip }, async () => {
    assertEquals(await sentTo(), "http://mcp.example.com/mcp");
  });

  test(
    "is not taken beside a `lookup`: addresses that were checked are the ones that are connected to",
    { skip },
    async () => {
      const asked: string[] = [];
      const path = await sentTo((name, { all }, done) => {
        asked.push(name);
        if (all) done(null, [{ address: "127.0.0.1", family: 4 }]);
        else done(null, "127.0.0.1", 4);
      });
      assertEquals([path, asked], ["/mcp", ["mcp.example.com"]]);
    },
  );
});
