/** What the handler of a task leaves behind: no process ends of it. */
import { assertEquals } from "@std/assert";
import { describe, test } from "node:test";
import type { JsonObject } from "../../../mod.ts";
import { createTasks, McpServer } from "../../../src/server/mod.ts";
import { watchStrays } from "../../faults/support/harness.ts";
import { form, withPlace } from "./served.ts";

const strays = watchStrays();

describe("a task whose handler does not wait", { concurrency: false }, () => {
  for (const era of ["modern", "legacy"] as const) {
    test(`for its questions, asked or refused, ends no process (${era})`, async () => {
      const server = new McpServer({ name: "hasty", version: "1.0.0" });
      server.tool("hasty", { task: "optional" }, (_args, { elicit, sample, roots }) => {
        void elicit(form("left"));
        void sample({ messages: [], maxTokens: 1 });
        void roots();
        return "done";
      });
      const handlers = { elicitation: () => ({ action: "decline" as const }) };
      await withPlace({ era, server, client: { handlers } }, async ({ client, clock }) => {
        const task = await client.callToolTask("hasty");
        assertEquals((await clock.until(task.result())).content, [{ type: "text", text: "done" }]);
        await strays.none();
      });
    });
  }

  test("for a task that cannot begin ends no process", async () => {
    const server = new McpServer({ name: "hasty", version: "1.0.0" });
    let release: (text: string) => void = () => {};
    server.tool("later", { task: "optional", taskBegins: "when-told" }, (_args, context) => {
      void context.continueAsTask?.();
      return new Promise<string>((resolve, reject) => {
        release = resolve;
        context.signal.addEventListener("abort", () => reject(context.signal.reason));
      });
    });
    const tasks = createTasks({ maxRunning: 1 });
    await withPlace({ era: "modern", server, tasks }, async ({ post, clock }) => {
      const first = await post("tools/call", { name: "later" });
      assertEquals((first.result as JsonObject).resultType, "task");
      const second = post("tools/call", { name: "later" });
      await clock.settle();
      release("as an ordinary call");
      const { content } = (await second).result as JsonObject;
      assertEquals(content, [{ type: "text", text: "as an ordinary call" }]);
      await strays.none();
      await tasks.close();
    });
  });
});
