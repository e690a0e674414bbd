/** Progress on the wire in front of a gateway (a client of ours would hide what comes twice), and log messages. */
import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import type { LogMessage } from "../../../mod.ts";
import { createHandler, McpServer } from "../../../src/server/mod.ts";
import { inMemory, open, pairs, textOf } from "./support.ts";

interface Heard {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly progressToken: unknown; readonly progress: number };
}

/** Tells how far it is in bursts, more than once, and backwards; the last sign comes right before the answer. */
function createTeller(): McpServer {
  const server = new McpServer({ name: "teller", version: "1.0.0" });
  server.tool(
    "tell",
    { input: { type: "object", properties: { pause: { type: "number" } } } },
    async ({ pause }, { progress }) => {
      for (let burst = 0; burst < 6; burst++) {
        for (const step of [1, 2, 2, 1, 3]) progress({ progress: burst * 10 + step, message: `${step}` });
        await new Promise((resolve) => setTimeout(resolve, Number(pause)));
      }
      progress({ progress: 100, total: 100 });
      return "told";
    },
  );
  return server;
}

for (const [front, back] of pairs) {
  describe(`progress through the gateway, ${front} in front and ${back} behind`, () => {
    test("each sign goes out once, rising, the last one before the answer and nothing after it", async () => {
      const { config } = inMemory(createTeller(), { eras: [back] });
      await using scene = await open({ one: config });
      const heard: string[] = [];
      const client = await scene.join(front, { heard });
      const calls = [0, 1, 7, 30, 60].map((pause) => client.callTool("one__tell", { pause }, { onProgress: () => {} }));
      for (const result of await Promise.all(calls)) assertEquals(textOf(result), "told");
      // Whatever waits for its turn would come now.
      await new Promise((resolve) => setTimeout(resolve, 120));
      const told = heard.map((text): Heard => JSON.parse(text));
      const tokens = new Set(told.flatMap(({ params }) => params?.progressToken ?? []));
      assertEquals(tokens.size, 5);
      for (const token of tokens) {
        const signs = told.flatMap(({ method, params }) =>
          method === "notifications/progress" && params?.progressToken === token ? [params.progress] : []
        );
        assertEquals(signs, [...new Set(signs)].sort((a, b) => a - b), signs.join());
        assertEquals(signs.at(-1), 100);
        const answeredAt = told.findIndex(({ id }) => id === token);
        const lastAt = told.findLastIndex(({ params }) => params?.progressToken === token);
        assert(lastAt < answeredAt, `${lastAt} of ${answeredAt}`);
      }
    });
  });
}

for (const [front, back] of pairs) {
  test(`log messages reach the caller whose call they came with, also beside others, ${front} in front and ${back} behind`, async () => {
    const server = new McpServer({ name: "one", version: "1" });
    let begun = 0;
    let go = (): void => {};
    const both = new Promise<void>((resolve) => go = resolve);
    server.tool(
      "tells",
      { input: { type: "object", properties: { who: { type: "string" } } } },
      async ({ who }, context) => {
        if (++begun === 2) go();
        await both;
        context.log("info", `a word for ${who}`);
      },
    );
    const handler = createHandler(server, { eras: [back] });
    await using scene = await open({
      one: { url: "http://localhost/mcp", fetch: (url, init) => handler(new Request(url, init)) },
    });
    const heard = await Promise.all(["ada", "ben"].map(async (who) => {
      const logs: unknown[] = [];
      const client = await scene.join(front, {
        logLevel: "info",
        handlers: { log: ({ data }) => void logs.push(data) },
      });
      await client.callTool("one__tells", { who });
      return logs;
    }));
    assertEquals(heard, [["a word for ada"], ["a word for ben"]]);
  });
}

for (const front of ["modern", "legacy"] as const) {
  test(`a server of a handshake session is told to log what callers may want, ${front} in front`, async () => {
    const make = (): McpServer => {
      const server = new McpServer({ name: "one", version: "1" });
      server.tool("tells", {}, (_args, { log }) => ["debug", "error"].forEach((level) => log(level as "debug", level)));
      return server;
    };
    const servers = {
      one: inMemory(make(), { eras: ["legacy"] }).config,
      two: inMemory(make(), { eras: ["legacy"] }).config,
    };
    await using scene = await open({ ...servers, two: { ...servers.two, logLevel: "error" } });
    const logs: unknown[] = [];
    const log = ({ data, logger }: LogMessage): void => void logs.push(`${logger}: ${data}`);
    const client = await scene.join(front, { logLevel: "debug", handlers: { log } });
    await client.callTool("one__tells");
    await client.callTool("two__tells");
    assertEquals(logs, ["one: debug", "one: error", "two: error"]);
  });
}
