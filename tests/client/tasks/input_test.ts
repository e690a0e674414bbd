import { describe, test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import {
  connect,
  HttpStatusError,
  InputRequiredError,
  InternalError,
  LimitExceededError,
  McpError,
  OutcomeUnknownError,
  ProtocolViolationError,
  taskSupport,
} from "../../../mod.ts";
import type { Client, ElicitResult, Handlers, JsonObject, PendingInput } from "../../../mod.ts";
import { createLegacyServer } from "../../servers/legacy.ts";
import { memoryFetch } from "../../servers/memory_fetch.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { asks, away, done, Refusal, scripted, task } from "./script.ts";

const accept = { action: "accept" as const, content: {} };

/** Somebody who gives the same answer to each question; `asked` is how many there were. */
function person(answer: ElicitResult): { asked: number; handlers: Handlers } {
  const self = { asked: 0, handlers: { elicitation: () => (self.asked++, answer) } };
  return self;
}

describe("what a task asks for", () => {
  test("each key is asked for once, however often it is listed, and goes out once", async () => {
    const states = [asks("a"), asks("a"), asks("a", "b"), asks("b", "c"), task(), asks("a"), done()];
    const asked: string[] = [];
    const { clock, client, params } = await scripted({
      "tasks/get": (_, count) => states[count] ?? done(),
      "tasks/update": () => ({}),
    }, {
      handlers: {
        elicitation: ({ message }) => {
          asked.push(message);
          return { action: "accept", content: { of: message } };
        },
      },
    });
    await clock.until(client.callTool("any"));
    assertEquals(asked, ["a", "b", "c"]);
    const answer = (key: string) => ({ [key]: { action: "accept", content: { of: key } } });
    assertEquals(params("tasks/update"), ["a", "b", "c"].map((key) => ({ taskId: "t1", inputResponses: answer(key) })));
    await client.close();
  });

  test("the looks go on while the user thinks, and a task that goes on without the answer ends the form", async () => {
    let aborted = false;
    const { clock, client, counts } = await scripted({
      "tasks/get": (_, count) => count < 5 ? asks("a") : done(),
      "tasks/update": () => ({}),
    }, {
      handlers: {
        elicitation: (_, { signal }) =>
          new Promise((_resolve, reject) =>
            signal.addEventListener("abort", () => {
              aborted = true;
              reject(signal.reason);
            })
          ),
      },
    });
    await clock.until(client.callTool("any"));
    assertEquals([counts.get("tasks/get"), counts.get("tasks/update"), aborted], [6, undefined, true]);
    await client.close();
  });

  test("an answer goes out as soon as it is there, whoever else still thinks, also about what is asked later", async () => {
    const answers = new Map<string, () => void>();
    let sent = 0;
    const { clock, client, params } = await scripted({
      "tasks/get": (_, count) => count === 0 ? asks("a", "b") : sent < 3 ? asks("a", "b", "c") : done(),
      "tasks/update": () => {
        sent++;
        // Who still thinks is done only now.
        if (sent === 2) answers.get("a")?.();
        return {};
      },
    }, {
      handlers: {
        elicitation: ({ message }) =>
          new Promise((resolve) => {
            const answer = () => resolve({ action: "accept", content: { of: message } });
            if (message === "a") answers.set(message, answer);
            else answer();
          }),
      },
    });
    await clock.until(client.callTool("any", {}, { timeout: 60_000 }));
    assertEquals(params("tasks/update").map(({ inputResponses }) => Object.keys(inputResponses as object)), [
      ["b"],
      ["c"],
      ["a"],
    ]);
    await client.close();
  });

  test("a question that is not listed any more is called off, and the task goes on", async () => {
    const told: string[] = [];
    const { clock, client, params } = await scripted({
      "tasks/get": (_, count) => count === 0 ? asks("a", "b") : told.includes("a is off") ? done() : asks("b"),
      "tasks/update": () => ({}),
    }, {
      handlers: {
        elicitation: ({ message }, { signal }) =>
          message === "b"
            ? { action: "accept", content: {} }
            : new Promise((_resolve, reject) =>
              signal.addEventListener("abort", () => {
                told.push(`${message} is off`);
                reject(signal.reason);
              })
            ),
      },
    });
    await clock.until(client.callTool("any", {}, { timeout: 60_000 }));
    assertEquals([told, params("tasks/update").length], [["a is off"], 1]);
    await client.close();
  });

  test("where one of two has no handler, nobody is asked for the other one", async () => {
    const user = person({ action: "decline" });
    const roots = { method: "roots/list" };
    const { clock, client } = await scripted({
      "tasks/get": () => asks("a"),
      "tools/call": () =>
        task({
          resultType: "task",
          status: "input_required",
          inputRequests: { ...asks("a").inputRequests as object, r: roots },
        }),
    }, {
      capabilities: { roots: {} },
      handlers: user.handlers,
    });
    const error = await assertRejects(() => clock.until(client.callTool("any")), InputRequiredError);
    assertEquals([Object.keys((error.pending as PendingInput).inputRequests), user.asked], [["a", "r"], 0]);
    await client.close();
  });

  test("an answer that did not arrive is sent again, and not asked for again", async () => {
    const user = person(accept);
    const { clock, client, params } = await scripted({
      "tasks/get": (_, count) => count < 2 ? asks("a") : done(),
      "tasks/update": (_, count) => {
        if (count === 0) throw new Refusal(-32603, "try later");
        return {};
      },
    }, {
      handlers: user.handlers,
    });
    const handle = await client.callToolTask("any");
    await assertRejects(() => clock.until(handle.result()), InternalError, "try later");
    await clock.until(handle.result());
    assertEquals(params("tasks/update"), [1, 2].map(() => ({ taskId: "t1", inputResponses: { a: accept } })));
    assertEquals(user.asked, 1);
    await client.close();
  });

  test("what no handler gives stops the waiting, and is handed over by resume", async () => {
    let answered = false;
    const { clock, client, params } = await scripted({
      "tasks/get": () => answered ? done({ result: { content: [{ type: "text", text: "thanks" }] } }) : asks("a"),
      "tasks/update": () => {
        answered = true;
        return {};
      },
    }, { capabilities: { elicitation: {} } });
    const handle = await client.callToolTask("any");
    const error = await assertRejects(() => clock.until(handle.result()), InputRequiredError);
    const pending = JSON.parse(JSON.stringify(error.pending)) as PendingInput;
    assertEquals(Object.keys(pending.inputRequests), ["a"]);
    await client.resume(pending, { a: accept });
    assertEquals(params("tasks/update"), [{ taskId: "t1", inputResponses: { a: accept } }]);
    assertEquals((await clock.until(handle.result())).content, [{ type: "text", text: "thanks" }]);
    await client.close();
  });

  test("what was never declared, or has no shape, is a violation", async () => {
    const undeclared = await scripted({ "tasks/get": () => asks("a") });
    await assertRejects(() => undeclared.clock.until(undeclared.client.callTool("any")), ProtocolViolationError);
    await undeclared.client.close();
    const shapeless = await scripted(
      { "tasks/get": () => task({ status: "input_required", inputRequests: { a: { method: 1 } } }) },
      { handlers: { elicitation: () => ({ action: "decline" }) } },
    );
    await assertRejects(
      () => shapeless.clock.until(shapeless.client.callTool("any")),
      ProtocolViolationError,
      "method",
    );
    await shapeless.client.close();
  });

  test("a task that never stops asking is stopped", async () => {
    const user = person({ action: "decline" });
    const { clock, client } = await scripted({
      "tasks/get": (_, count) => asks(`key ${count}`),
      "tasks/update": () => ({}),
    }, {
      limits: { inputRounds: 3 },
      handlers: user.handlers,
    });
    const error = await assertRejects(() => clock.until(client.callTool("any")), LimitExceededError);
    assertEquals([error.limit, user.asked], ["limits.inputRounds", 3]);
    await client.close();
  });

  test("what could not be answered is asked for again when somebody waits again", async () => {
    let asked = 0;
    const { clock, client, params } = await scripted({
      "tasks/get": (_, count) => count < 3 ? asks("a") : done(),
      "tasks/update": () => ({}),
    }, {
      handlers: {
        elicitation: () => {
          if (++asked === 1) throw new RangeError("the window was closed");
          return { action: "accept", content: {} };
        },
      },
    });
    const handle = await client.callToolTask("any");
    await assertRejects(() => clock.until(handle.result()), RangeError);
    await clock.until(handle.result());
    assertEquals([asked, params("tasks/update").length], [2, 1]);
    await client.close();
  });

  test("an answer that may have been lost on its way is sent again", async () => {
    const user = person(accept);
    const { clock, client, counts } = await scripted({
      "tasks/get": (_, count) => count < 1 ? asks("a") : done(),
      "tasks/update": (_, count) => {
        if (count === 0) throw away;
        return {};
      },
    }, {
      handlers: user.handlers,
    });
    await clock.until(client.callTool("any"));
    assertEquals([user.asked, counts.get("tasks/update")], [1, 2]);
    await client.close();
  });

  test("a task that began behind a question of its call is kept as long as its server says", async () => {
    const { clock, client } = await scripted({
      "tools/call": (_, count) =>
        count === 0
          ? { resultType: "input_required", inputRequests: asks("a").inputRequests as JsonObject, requestState: "s" }
          : task({ resultType: "task", ttlMs: 600_000 }),
      "tasks/get": (_, count) => {
        if (count < 4) throw away;
        return done();
      },
    }, { handlers: { elicitation: () => accept } });
    const handle = await clock.until(client.callToolTask("any"));
    assertEquals(handle.task.ttlMs, 600_000);
    await clock.until(handle.result());
    await client.close();
  });

  for (const outage of ["of a while", "without end"]) {
    test(`an answer that falls into an outage ${outage} is kept, and goes out again beside the looks`, async () => {
      const user = person(accept);
      let given = 0;
      const { clock, client, params } = await scripted({
        "tasks/get": () => given ? done() : asks("a"),
        "tasks/update": (_, count) => {
          // More than one request is repeated.
          if (count < 8 || outage === "without end") throw away;
          given++;
          return {};
        },
      }, {
        handlers: user.handlers,
      });
      const handle = await client.callToolTask("any");
      const work = clock.until(handle.result());
      if (outage === "of a while") {
        await work;
        assertEquals(given, 1);
      } else {
        const error = await assertRejects(() => work, McpError);
        assertEquals(error.retryable, true);
      }
      const answers = new Set(params("tasks/update").map(({ inputResponses }) => JSON.stringify(inputResponses)));
      assertEquals([user.asked, [...answers]], [1, [JSON.stringify({ a: accept })]]);
      await client.close();
    });
  }

  test("2025-11-25: a task that is cancelled while it asks ends as cancelled", async () => {
    const clock = new VirtualClock();
    const server = createLegacyServer({ clock });
    const client: Client = await connect("http://server.test/mcp", {
      clock,
      tasks: taskSupport,
      fetch: memoryFetch(server),
      handlers: {
        elicitation: async () => {
          await client.cancelTask(handle.taskId);
          return { action: "accept", content: { name: "Ada" } };
        },
      },
    });
    const handle = await client.callToolTask("job", { ask: true });
    await assertRejects(() => clock.until(handle.result()), OutcomeUnknownError, "was cancelled");
    assertEquals([server.count("tasks/result"), handle.task.status], [1, "cancelled"]);
    await client.close();
  });

  test("2025-11-25: a result that is on its way is not asked for again", async () => {
    const clock = new VirtualClock();
    const server = createLegacyServer({ clock, reply: "json" });
    const fetch = memoryFetch(server);
    const client = await connect("http://server.test/mcp", {
      clock,
      tasks: taskSupport,
      handlers: { elicitation: () => ({ action: "accept", content: { name: "Ada" } }) },
      async fetch(target, init) {
        const isResult = init.method === "POST" && (await new Request(target, init).text()).includes("tasks/result");
        const response = await fetch(target, init);
        if (isResult) await new Promise<void>((resolve) => void clock.schedule(resolve, 150));
        return response;
      },
    });
    const states: string[] = [];
    const handle = await client.callToolTask("job", { ask: true }, { onStatus: ({ status }) => states.push(status) });
    const result = await clock.until(handle.result());
    assertEquals(result.content, [{ type: "text", text: 'job done for {"name":"Ada"}' }]);
    assertEquals([states.at(-1), server.count("tasks/result")], ["completed", 1]);
    await client.close();
  });

  for (const outage of ["of a while", "without end"]) {
    test(`2025-11-25: a task that is over before an outage ${outage} is asked for its result again`, async () => {
      const clock = new VirtualClock();
      const server = createLegacyServer({ clock, reply: "json" });
      const fetch = memoryFetch(server);
      let refused = 0;
      const client = await connect("http://server.test/mcp", {
        clock,
        tasks: taskSupport,
        async fetch(target, init) {
          const isResult = init.method === "POST" && (await new Request(target, init).text()).includes("tasks/result");
          // More than one request is repeated.
          if (!isResult || (refused === 8 && outage === "of a while")) return await fetch(target, init);
          refused++;
          return new Response("", { status: 503 });
        },
      });
      const handle = await client.callToolTask("job");
      const work = clock.until(handle.result());
      if (outage === "of a while") assertEquals((await work).content, [{ type: "text", text: "job done" }]);
      else await assertRejects(() => work, HttpStatusError);
      assertEquals(handle.task.status, "completed");
      await client.close();
    });
  }
});
