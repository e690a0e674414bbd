/**
 * What is kept of a reply while it is streamed.
 */
import { test } from "node:test";
import { assert } from "@std/assert";
import { createModelHandler } from "../../src/agent/mod.ts";
import { bytesInUse } from "../support/memory/garbage.ts";

test("a piece of a reply that was sent is not kept until the reply is over", async () => {
  const count = 40_000;
  const handler = createModelHandler({
    getModelId: () => "endless",
    async *respond() {
      for (;;) yield await Promise.resolve("word");
    },
  });
  const messages = [{ role: "user", content: "Go on" }];
  const response = await handler(
    new Request("http://localhost/v1/chat/completions", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "endless", stream: true, messages }),
    }),
  );
  const reader = response.body!.getReader();
  const read = async (pieces: number): Promise<number> => {
    while (pieces--) assert(!(await reader.read()).done);
    return await bytesInUse();
  };
  const before = await read(10_000);
  const bytes = (await read(count) - before) / count;
  assert(bytes < 50, `${Math.round(bytes)} bytes are kept of each piece`);
  await reader.cancel();
  handler.close();
});
