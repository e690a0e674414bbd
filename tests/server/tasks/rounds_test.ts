import { describe, test } from "node:test";
import { assertEquals, assertMatch } from "@std/assert";
import { connect, taskSupport } from "../../../mod.ts";
import type { JsonObject } from "../../../mod.ts";
import { createHandler, createTasks, createTaskStore, McpServer } from "../../../src/server/mod.ts";
import { heldRequest } from "../../support/held_request.ts";
import { TestStore } from "../../support/test_store.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { createServer, form, type Options, withPlace } from "./served.ts";

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

describe("a question of a task that nobody wants answered any more", () => {
  for (const era of ["modern", "legacy"] as const) {
    test(`is called off, and the task goes on (${era})`, async () => {
      const server = new McpServer({ name: "hasty", version: "1.0.0" });
      const unwanted = new AbortController();
      const clock = new VirtualClock();
      server.tool("hasty", { task: "optional" }, async (_args, { elicit }) => {
        const first = elicit(form("first"), { signal: unwanted.signal }).then(
          ({ action }) => action,
          ({ message }) => message,
        );
        const { content } = await elicit(form("second"), { key: "second" });
        return `${await first}, ${content?.second}`;
      });
      const shown: string[] = [];
      const handlers: Options["handlers"] = {
        elicitation: async ({ message }, { signal }) => {
          shown.push(message);
          if (message === "second?") return { action: "accept", content: { second: "yes" } };
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
          shown.push("gone");
          return { action: "cancel" };
        },
      };
      await withPlace({ era, server, clock, client: { handlers } }, async ({ client }) => {
        const task = await client.callToolTask("hasty");
        const result = task.result();
        await clock.advance(1_000);
        unwanted.abort(new Error("never mind"));
        assertEquals((await clock.until(result, 60_000)).content, [{ type: "text", text: "never mind, yes" }]);
        assertEquals(shown.toSorted(), ["first?", "gone", "second?"]);
      });
    });
  }

  const handlers = { elicitation: () => ({ action: "accept" as const, content: { first: "asked" } }) };
  test("is not asked at all where nobody wanted it from the start", async () => {
    const server = new McpServer({ name: "hasty", version: "1.0.0" });
    server.tool("hasty", { task: "optional" }, async (_args, { elicit }) => {
      const signal = AbortSignal.abort(new Error("never mind"));
      return await elicit(form("first"), { signal }).catch(({ message }) => `${message}`);
    });
    await withPlace({ era: "modern", server, client: { handlers } }, async ({ client, clock }) => {
      const task = await client.callToolTask("hasty");
      assertEquals((await clock.until(task.result())).content, [{ type: "text", text: "never mind" }]);
    });
  });
});

test("an answer that reaches another process than the task's is refused, and not lost without a word", async () => {
  const clock = new VirtualClock();
  const store = createTaskStore(new TestStore(), { clock });
  const place = () => ({ era: "modern" as const, clock, tasks: createTasks({ store }) });
  await withPlace(place(), ({ post: begin }) =>
    withPlace(place(), async ({ post: elsewhere }) => {
      const { taskId } = (await begin("tools/call", { name: "ask" })).result as { taskId: string };
      const inputResponses = { elicit: { action: "accept", content: { first: "Ada" } } };
      const { error } = await elsewhere("tasks/update", { taskId, inputResponses }) as { error?: { message: string } };
      assertMatch(error?.message ?? "", /another process/);
      // What nobody asked is ignored there too.
      const { result } = await elsewhere("tasks/update", { taskId, inputResponses: { none: {} } });
      assertEquals((result as JsonObject).resultType, "complete");
      assertEquals((await begin("tasks/update", { taskId, inputResponses })).error, undefined);
      await begin("tasks/cancel", { taskId });
      await clock.advance(1_000);
    }));
});

describe("a question of 2025-11-25", () => {
  test("is asked anew where who was asked is gone without a word, and there alone", async () => {
    const clock = new VirtualClock();
    const { server } = createServer();
    const handler = createHandler(server, { eras: ["legacy"], clock, tasks: createTasks({ pollInterval: 200 }) });
    let lost = 0;
    const calledOff: string[] = [];
    const join = (elicitation: NonNullable<Options["handlers"]>["elicitation"], loses = false) =>
      connect("http://localhost/mcp", {
        clock,
        tasks: taskSupport,
        handlers: { elicitation },
        fetch: async (url, init) => {
          const response = await handler(heldRequest(url, init));
          if (!loses || lost || !String(init.body).includes("tasks/result")) return response;
          lost++;
          throw new TypeError("the head of the answer is lost");
        },
      });
    const answer = { action: "accept", content: { first: "Ada", last: "Lovelace" } } as const;
    const thinking = await clock.until(join(({ message }, { signal }) =>
      new Promise((_, reject) => {
        signal?.addEventListener("abort", () => {
          calledOff.push(message);
          reject(signal.reason);
        });
      }), true));
    const task = await clock.until(thinking.callToolTask("ask"));
    const waiting = task.result();
    waiting.catch(() => {});
    await clock.advance(20_000);
    assertEquals([lost, calledOff], [1, []]);
    // It lies open there, and somebody else comes.
    const other = await clock.until(join(() => answer));
    const { content } = await clock.until(other.awaitTask(task.taskId), 60_000);
    assertEquals(content, [{ type: "text", text: "accept: Ada Lovelace" }]);
    assertEquals(calledOff.toSorted(), ["first?", "last?"]);
    assertEquals((await clock.until(waiting)).content, content);
    for (const client of [thinking, other]) await clock.until(client.close());
    handler.close();
  });

  test("stays with who can be asked, where somebody waits who cannot", async () => {
    const clock = new VirtualClock();
    const { server } = createServer();
    const handler = createHandler(server, { eras: ["legacy"], clock, tasks: createTasks({ pollInterval: 200 }) });
    const join = (handlers?: Options["handlers"]) =>
      connect("http://localhost/mcp", {
        clock,
        tasks: taskSupport,
        handlers,
        fetch: async (url, init) => await handler(heldRequest(url, init)),
      });
    const asked: string[] = [];
    const thinking = await clock.until(join({
      elicitation: async ({ message }) => {
        asked.push(message);
        await new Promise<void>((resolve) => clock.schedule(resolve, 20_000));
        return { action: "accept", content: { first: "Ada", last: "Lovelace" } };
      },
    }));
    const task = await clock.until(thinking.callToolTask("ask"));
    const waiting = task.result();
    await clock.advance(5_000);
    const onlooker = await clock.until(join());
    const seen = onlooker.awaitTask(task.taskId);
    const [{ content }, other] = await clock.until(Promise.all([waiting, seen]), 60_000);
    assertEquals(content, [{ type: "text", text: "accept: Ada Lovelace" }]);
    assertEquals(other.content, content);
    assertEquals(asked.toSorted(), ["Ada Lovelace?", "first?", "last?"]);
    for (const client of [thinking, onlooker]) await clock.until(client.close());
    handler.close();
  });
});
