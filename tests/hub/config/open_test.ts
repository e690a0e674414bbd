import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { hideSecrets, readHubConfig } from "../../../src/hub/config/mod.ts";
import { createHandler } from "../../../src/server/mod.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { createServer, openHub, textOf } from "../support.ts";

const text = `{
  "mcpServers": {
    "good": {
      "url": "https://good.example.com/mcp",
      "headers": { "Authorization": "Bearer \${TOKEN}" },
      "tools": { "allow": ["ec*"] },
    },
    "bad": { "url": "https://bad.example.com/mcp?key=\${TOKEN}", "headers": { "X-Plain": "not-so-plain" }, "maxRetries": 0 },
    "unset": { "url": "https://good.example.com/mcp", "headers": { "Authorization": "Bearer \${NOT_SET}" } },
  },
}`;

describe("from a config to a hub", () => {
  test("what works is opened, with its headers and filters; secrets that a server says again are not shown", async () => {
    const handler = createHandler(createServer("good"), { allowedHosts: ["good.example.com"] });
    const seen = new Set<string | null>();
    const fetch = async (url: string, init: RequestInit): Promise<Response> => {
      if (!url.includes("//good.")) return new Response(`s3cr3t-token, not-so-plain and what is open`, { status: 500 });
      const request = new Request(url, init);
      seen.add(request.headers.get("authorization"));
      return await handler(request);
    };
    const { servers, problems } = readHubConfig(text, { environment: { TOKEN: "s3cr3t-token" } });
    assertEquals(problems.map(({ server, field }) => [server, field]), [["unset", "headers.Authorization"]]);
    await using hub = await openHub({ mcpServers: hideSecrets(servers) }, { fetch, listen: false });
    assertEquals(hub.tools().map(({ qualifiedName }) => qualifiedName), ["good__echo"]);
    assertEquals(textOf(await hub.callTool("good.echo", { text: "hello" })), "good: hello");
    assertEquals([...seen], ["Bearer s3cr3t-token"]);
    const bad = hub.status().find(({ name }) => name === "bad");
    const message = bad?.lastError?.message ?? "";
    assert(message.includes("what is open"), message);
    assert(!/s3cr3t|not-so-plain/.test(message), message);
  });

  test("what it speaks is not asked where the config says so", async () => {
    const handler = createHandler(createServer("old"));
    const first = async (era?: string): Promise<string> => {
      const seen: string[] = [];
      const fetch = async (url: string, init: RequestInit): Promise<Response> => {
        seen.push(JSON.parse(await new Request(url, init).text() || "{}").method);
        return await handler(new Request(url, init));
      };
      const { servers } = readHubConfig({ mcpServers: { old: { url: "http://localhost/mcp", era } } }, {
        environment: {},
      });
      await using hub = await openHub(servers, { fetch, listen: false });
      assertEquals(hub.tools().length, 2);
      return seen[0] ?? "";
    };
    assertEquals([await first("legacy"), await first()], ["initialize", "server/discover"]);
  });

  test("its time is that of calls too, also where a server answers only when it is done", async () => {
    const clock = new VirtualClock();
    const server = createServer("slow");
    server.tool("report", {}, async () => {
      await new Promise<void>((resolve) => clock.schedule(resolve, 90_000));
      return "the report";
    });
    const handler = createHandler(server);
    const config = (timeout: number) => ({ slow: { url: "http://localhost/mcp", timeout } });
    const outcome = async (timeout: number): Promise<string> => {
      const { servers } = readHubConfig({ mcpServers: config(timeout) }, { environment: {} });
      const fetch = async (url: string, init: RequestInit) => await handler(new Request(url, init));
      await using hub = await clock.until(openHub(servers, { fetch, clock, listen: false }));
      return textOf(await clock.until(hub.callTool("slow.report")));
    };
    assertEquals(await outcome(120_000), "the report");
    const early = await outcome(20_000);
    assert(early.includes("20000 ms"), early);
  });
});
