/** Progress on the wire in front of a gateway: a client of ours would hide what comes twice. */
import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { McpServer } from "../../../src/server/mod.ts";
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
