/** Tasks over both wires, as our own client sees them. */
import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { InvalidParamsError, OutcomeUnknownError } from "../../../mod.ts";
import type { Handlers } from "../../../mod.ts";
import { createServer, type Setting, withPlace } from "./served.ts";

const handlers: Handlers = {
  elicitation: ({ message }) => {
    const content = message === "first?"
      ? { first: "Ada" }
      : message === "last?"
      ? { last: "Lovelace" }
      : { sure: "y" };
    return { action: "accept", content };
  },
};

for (const era of ["modern", "legacy"] as const) {
  for (const way of ["http", "pipe"] as const) {
    const on = (more: Partial<Setting> = {}): Setting => ({ era, way, ...more });
    describe(`tasks, ${era} over ${way}`, () => {
      test("a call that is not a task stays one", () =>
        withPlace(on(), async ({ client, clock }) => {
          const handle = await client.callToolTask("plain").catch(() => undefined);
          if (era === "modern") assertEquals(handle?.taskId, "");
          await client.listTools();
          const { content } = await clock.until(client.callTool("plain"));
          assertEquals(content, [{ type: "text", text: "plain" }]);
        }));

      test("a task is left, found again, and gives its result", async () => {
        const { server, held } = createServer();
        await withPlace(on({ server }), async ({ client, clock }) => {
          const { taskId, task } = await client.callToolTask("hold", {}, era === "legacy" ? { ttl: 5_000 } : {});
          assertEquals([task.status, task.ttlMs, task.pollIntervalMs], [
            "working",
            era === "legacy" ? 5_000 : 3_600_000,
            200,
          ]);
          assert(/^[0-9a-f]{32}$/.test(taskId));
          const found = await client.getTask(taskId);
          assertEquals(found.task.status, "working");
          held.release("finished");
          const { content } = await clock.until(found.result());
          assertEquals(content, [{ type: "text", text: "finished" }]);
        });
      });

      test("a tool that fails and one that refuses tell so", () =>
        withPlace(on(), async ({ client, clock }) => {
          const failing = await client.callToolTask("fail");
          const { isError, content } = await clock.until(failing.result());
          assertEquals([isError, content], [true, [{ type: "text", text: "it is broken" }]]);
          assertEquals((await failing.get()).status, era === "modern" ? "completed" : "failed");
          const refusing = await client.callToolTask("refuse");
          const error = await assertRejects(() => clock.until(refusing.result()), InvalidParamsError, "not like this");
          assertEquals([error.rpcCode, error.data], [-32602, { why: "no" }]);
          assertEquals((await refusing.get()).status, "failed");
        }));

      test("a task is cancelled: its signal is aborted, and it stays cancelled", async () => {
        const { server, held } = createServer();
        await withPlace(on({ server }), async ({ client, clock }) => {
          const handle = await client.callToolTask("hold");
          await handle.cancel();
          assertEquals(held.contexts[0]?.signal.aborted, true);
          assertEquals((await handle.get()).status, "cancelled");
          await assertRejects(() => clock.until(handle.result()), OutcomeUnknownError, "cancelled");
          await clock.settle();
          assertEquals((await handle.get()).status, "cancelled");
          if (era === "modern") await handle.cancel();
          else await assertRejects(() => handle.cancel(), InvalidParamsError, "has ended already");
        });
      });

      test("what a task asks is answered, also two questions at once and one after them", () =>
        withPlace(on({ client: { handlers } }), async ({ client, clock }) => {
          const handle = await client.callToolTask("ask");
          const { content } = await clock.until(handle.result());
          assertEquals(content, [{ type: "text", text: "accept: Ada Lovelace" }]);
        }));

      test("an unknown task is -32602", () =>
        withPlace(on(), async ({ client }) => {
          const error = await assertRejects(() => client.getTask("nobody"), InvalidParamsError);
          assertEquals(error.rpcCode, -32602);
        }));

      test("a task is kept for its time, and no longer", async () => {
        const { server, held } = createServer();
        await withPlace(on({ server }), async ({ client, clock }) => {
          const { taskId, task } = await client.callToolTask("hold", {}, { ttl: 5_000 });
          const ttl = task.ttlMs ?? 0;
          await clock.advance(ttl - 1);
          assertEquals((await client.getTask(taskId)).task.status, "working");
          await clock.advance(1);
          assertEquals(held.contexts[0]?.signal.aborted, true);
          await assertRejects(() => client.getTask(taskId), InvalidParamsError);
        });
      });

      test("changes of a task are heard of", async () => {
        const { server, held } = createServer();
        await withPlace(on({ server }), async ({ client }) => {
          const { taskId } = await client.callToolTask("hold");
          await using changes = client.listen({ taskIds: [taskId] });
          const { taskIds } = await changes.acknowledged;
          if (era === "modern") assertEquals(taskIds, [taskId]);
          const next = changes.next();
          held.release("finished");
          const { value } = await next;
          assert(value?.type === "task");
          assertEquals([value.task.taskId, value.task.status], [taskId, "completed"]);
          if (era === "legacy") return;
          await using late = client.listen({ taskIds: [taskId, "nobody"] });
          assertEquals((await late.acknowledged).taskIds, [taskId]);
          assertEquals((await late.next()).value?.type, "task");
        });
      });
    });
  }
}
