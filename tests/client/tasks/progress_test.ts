/** What is told of a task's progress after the request that began it was answered (C-142). */
import { describe, test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import { InvalidParamsError } from "../../../mod.ts";
import type { Middleware, Progress, RequestOptions } from "../../../mod.ts";
import { createServer, withPlace } from "../../server/tasks/served.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";

/** A listener, and what it heard. */
function createListener(): { heard: number[]; onProgress: (progress: Progress) => void } {
  const heard: number[] = [];
  return { heard, onProgress: ({ progress }) => void heard.push(progress) };
}

for (const way of ["pipe", "http"] as const) {
  describe(`the progress of a task of 2025-11-25 over ${way}`, () => {
    test("is told until the task has ended", async () => {
      const { server, held } = createServer();
      await withPlace({ era: "legacy", way, server }, async ({ client, clock }) => {
        const { heard, onProgress } = createListener();
        const task = await client.callToolTask("hold", {}, { onProgress });
        await clock.settle();
        const { progress } = held.contexts[0]!;
        const result = task.result();
        for (const value of [1, 3, 2, 3, 4]) {
          progress({ progress: value, total: 4 });
          await clock.advance(100);
        }
        held.release("done");
        assertEquals((await clock.until(result)).content, [{ type: "text", text: "done" }]);
        assertEquals(heard, [1, 3, 4]);
      });
    });
  });
}

describe("the progress of a task of 2025-11-25", () => {
  test("is told to who looks and does not wait, and to each its own", async () => {
    const { server, held } = createServer();
    await withPlace({ era: "legacy", way: "pipe", server }, async ({ client, clock }) => {
      const [one, other] = [createListener(), createListener()];
      const first = await client.callToolTask("hold", {}, one);
      await client.callToolTask("hold", {}, other);
      await clock.settle();
      const [here, there] = held.contexts;
      there!.progress({ progress: 10 });
      here!.progress({ progress: 1 });
      await clock.settle();
      assertEquals([one.heard, other.heard], [[1], [10]]);
      await first.cancel();
      await first.get();
      here!.progress({ progress: 2 });
      there!.progress({ progress: 20 });
      await clock.advance(100);
      assertEquals([one.heard, other.heard], [[1], [10, 20]]);
    });
  });

  test("is told of a call that becomes a task by itself", async () => {
    const { server, held } = createServer();
    server.tool("long", { task: "required" }, async (_args, context) => {
      held.contexts.push(context);
      await new Promise<void>((resolve) => clock.schedule(resolve, 1_000));
      context.progress({ progress: 1 });
      await new Promise<void>((resolve) => clock.schedule(resolve, 1_000));
      return "long";
    });
    const clock: VirtualClock = new VirtualClock();
    await withPlace({ era: "legacy", way: "pipe", server, clock }, async ({ client }) => {
      await client.listTools();
      const { heard, onProgress } = createListener();
      const ids: string[] = [];
      const options = { onProgress, sent: (id: string) => void ids.push(id) };
      await clock.until(client.callTool("long", {}, options));
      assertEquals([heard, ids.length], [[1], 1]);
    });
  });

  test("is no reason to leave questions open where the result cannot be asked for early", async () => {
    let refused = 0;
    const early: Middleware = (next) => async (request) => {
      if (request.method !== "tasks/result" || refused++) return await next(request);
      throw new InvalidParamsError("It has not ended", { rpcCode: -32602 });
    };
    const elicitation = () => ({ action: "accept" as const, content: { first: "Ada", last: "Lovelace", sure: "yes" } });
    const options = { middleware: [early], handlers: { elicitation } };
    await withPlace({ era: "legacy", way: "pipe", client: options }, async ({ client, clock }) => {
      const task = await client.callToolTask("ask", {}, createListener());
      const { content } = await clock.until(task.result({ timeout: 60_000 }));
      assertEquals(content, [{ type: "text", text: "accept: Ada Lovelace" }]);
    });
  });

  const failing: [string, () => Promise<void> | never][] = [
    ["throws", () => {
      throw new Error("not heard");
    }],
    ["rejects", () => Promise.reject(new Error("not heard"))],
  ];
  for (const [way, onProgress] of failing) {
    test(`ends with the listener that ${way}, and the call with it`, async () => {
      const { server, held } = createServer();
      server.tool("long", { task: "required" }, async (_args, context) => {
        held.contexts.push(context);
        await new Promise<void>((resolve) => clock.schedule(resolve, 500));
        context.progress({ progress: 1 });
        return await new Promise<string>((resolve) => context.signal.addEventListener("abort", () => resolve("over")));
      });
      const clock: VirtualClock = new VirtualClock();
      await withPlace({ era: "legacy", way: "pipe", server, clock }, async ({ client }) => {
        await client.listTools();
        const options: RequestOptions = { onProgress };
        await assertRejects(() => clock.until(client.callTool("long", {}, options)), Error, "not heard");
        await clock.settle();
        assertEquals(held.contexts[0]!.signal.aborted, true);
      });
    });
  }

  test("is heard no more by whose call was given up, whatever becomes of the task", async () => {
    const { server, held } = createServer();
    server.tool("long", { task: "required" }, async (_args, context) => {
      held.contexts.push(context);
      return await new Promise<string>(() => {});
    });
    const [early, late] = [new AbortController(), new AbortController()];
    const middleware: Middleware = (next) => async (request) => {
      // A server need not let tasks be cancelled.
      if (request.method === "tasks/cancel") throw new Error("not supported");
      const answer = await next(request);
      if (request.params.name === "hold") early.abort(new Error("enough"));
      return answer;
    };
    const options = { middleware: [middleware] };
    await withPlace({ era: "legacy", way: "pipe", server, client: options }, async ({ client, clock }) => {
      await client.listTools();
      const [call, begun] = [createListener(), createListener()];
      const result = client.callTool("long", {}, { ...call, signal: late.signal });
      await clock.settle();
      const handle = client.callToolTask("hold", {}, { ...begun, signal: early.signal });
      await assertRejects(() => clock.until(handle), Error, "enough");
      for (const progress of [1, 2]) {
        for (const context of held.contexts) context.progress({ progress });
        await clock.advance(100);
        if (progress > 1) continue;
        late.abort(new Error("enough"));
        await assertRejects(() => clock.until(result), Error, "enough");
      }
      assertEquals([call.heard, begun.heard], [[1], []]);
    });
  });
});
