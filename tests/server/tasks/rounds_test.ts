import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { McpServer } from "../../../src/server/mod.ts";
import { form, withPlace } from "./served.ts";

describe("a tool that becomes a task when it says so", () => {
  test("keeps what it carries between its rounds, until it is a task", async () => {
    const server = new McpServer({ name: "rounds", version: "1.0.0" });
    const carried: unknown[] = [];
    server.tool("later", { task: "optional", taskBegins: "when-told" }, async (_args, context) => {
      const { rounds } = context;
      carried.push(rounds?.carried);
      if (rounds) rounds.carried = `run ${carried.length}`;
      const { content } = await context.elicit(form("name"));
      await context.continueAsTask?.();
      carried.push(context.rounds === undefined);
      return `${content?.name}`;
    });
    const handlers = { elicitation: () => ({ action: "accept", content: { name: "ada" } }) as const };
    await withPlace({ era: "modern", server, client: { handlers } }, async ({ client, clock }) => {
      const task = await client.callToolTask("later");
      assertEquals((await clock.until(task.result())).content, [{ type: "text", text: "ada" }]);
      assertEquals(carried, [undefined, "run 1", true]);
    });
  });
});
