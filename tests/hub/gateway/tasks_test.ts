import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { connect, RpcError, taskSupport } from "../../../mod.ts";
import type { ClientOptions, Era } from "../../../mod.ts";
import { createHandler, createTasks, McpServer } from "../../../src/server/mod.ts";
import type { ToolOptions } from "../../../src/server/mod.ts";
import { inMemory, open, pairs, textOf } from "./support.ts";
import { withApproval } from "../../../src/hub/mod.ts";

const pollInterval = 100;
const asClient: ClientOptions = { tasks: taskSupport };

/** A server whose tools are tasks; `stopped` counts those that heard that nobody wants them any more. */
function createWorker(name: string, era: Era) {
  const server = new McpServer({ name, version: "1.0.0" });
  const seen = { begun: 0, stopped: 0, runs: 0 };
  const gates: (() => void)[] = [];
  const tool = (own: string, options: ToolOptions, run: Parameters<typeof server.tool>[2]): void => {
    server.tool(own, { ...options, input: { type: "object" } }, run);
  };
  tool("slow", { task: "optional" }, async () => {
    seen.begun++;
    await new Promise<void>((resolve) => gates.push(resolve));
    return `${name} is done`;
  });
  tool("must", { task: "required" }, async (_, { progress }) => {
    for (let step = 1; step <= 3; step++) {
      await new Promise((resolve) => setTimeout(resolve, 60));
      progress({ progress: step, total: 3 });
    }
    return "it had to be one";
  });
  tool("hangs", { task: "required" }, (_, { signal }) =>
    new Promise((resolve) => {
      seen.begun++;
      signal.addEventListener("abort", () => {
        seen.stopped++;
        resolve("stopped");
      });
    }));
  tool("asks", { task: "optional" }, async (_, { elicit }) => {
    const form = { type: "object", properties: { name: { type: "string" } } } as const;
    const first = await elicit({ message: "Who?", requestedSchema: form });
    const second = await elicit({ message: `Really ${first.content?.name}?`, requestedSchema: form });
    return `${first.content?.name}, ${second.content?.name}`;
  });
  tool("inquires", { task: "required" }, async (_, { elicit }) => {
    const { content } = await elicit({ message: "Who?", requestedSchema: { type: "object", properties: {} } });
    return `it was ${content?.name}`;
  });
  tool("later", { task: "optional", taskBegins: "when-told" }, async (_, { elicit, continueAsTask }) => {
    seen.runs++;
    const form = { type: "object", properties: { name: { type: "string" } } } as const;
    const { content } = await elicit({ message: "Before?", requestedSchema: form });
    await continueAsTask?.();
    const other = await elicit({ message: "After?", requestedSchema: form });
    return `${content?.name}, ${other.content?.name}`;
  });
  tool("fails", { task: "optional" }, () => ({ error: "it failed" }));
  tool("plain", {}, () => "no task");
  const { config } = inMemory(server, { eras: [era], serves: createTasks({ pollInterval }) });
  return { server, config, seen, open: () => gates.splice(0).forEach((gate) => gate()) };
}

function answering(): ClientOptions {
  let count = 0;
  const elicitation = () => ({ action: "accept", content: { name: `answer ${++count}` } }) as const;
  return { ...asClient, handlers: { elicitation } };
}

async function until(holds: () => boolean, what: string): Promise<void> {
  for (let turn = 0; !holds(); turn++) {
    if (turn > 4_000) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

for (const [front, back] of pairs) {
  describe(`tasks through the gateway, ${front} in front and ${back} behind`, () => {
    const served = () => ({ serves: createTasks({ pollInterval }) });

    test("a caller who wants a task gets one, and its result", async () => {
      const one = createWorker("one", back);
      await using scene = await open({ one: one.config }, {}, served());
      const client = await scene.join(front, asClient);
      await client.listTools();
      const handle = await client.callToolTask("one__slow");
      assert(handle.taskId !== "", "it is a task");
      assertEquals((await handle.get()).status, "working");
      await until(() => one.seen.begun === 1, "the tool");
      one.open();
      const done = await handle.result();
      assertEquals(textOf(done), "one is done");
      // The server's own task is not named; a legacy result names the one in front.
      const { taskId } = handle;
      const related = done._meta?.["io.modelcontextprotocol/related-task"];
      assertEquals<unknown>(related, front === "legacy" ? { taskId } : undefined);
      assertEquals((await handle.get()).status, "completed");
      const failing = await client.callToolTask("one__fails");
      const failed = await failing.result();
      assertEquals([failed.isError, textOf(failed)], [true, "it failed"]);
    });

    test("cancelling it stops the tool behind", async () => {
      const one = createWorker("one", back);
      await using scene = await open({ one: one.config }, {}, served());
      const client = await scene.join(front, asClient);
      await client.listTools();
      const handle = await client.callToolTask("one__hangs");
      await until(() => one.seen.begun === 1, "the tool");
      await handle.cancel();
      await until(() => one.seen.stopped === 1, "the end of the tool");
      assertEquals((await handle.get()).status, "cancelled");
      assertEquals(scene.hub.status()[0]?.active, 0);
    });

    test("what it asks reaches the caller, also where several ask at once", async () => {
      const one = createWorker("one", back);
      await using scene = await open({ one: one.config }, {}, served());
      const clients = [await scene.join(front, answering()), await scene.join(front, answering())];
      const results = await Promise.all(clients.map(async (client) => {
        await client.listTools();
        return textOf(await (await client.callToolTask("one__asks")).result());
      }));
      assertEquals(results, ["answer 1, answer 2", "answer 1, answer 2"]);
    });

    test("what is asked before it is a task is asked in the call", async () => {
      const one = createWorker("one", back);
      await using scene = await open({ one: one.config }, {}, served());
      const client = await scene.join(front, answering());
      await client.listTools();
      assertEquals(textOf(await client.callTool("one__later")), "answer 1, answer 2");
      // A modern tool runs once for each of its rounds, and no more.
      assertEquals(one.seen.runs, back === "modern" ? 2 : 1);
      assertEquals(textOf(await (await client.callToolTask("one__later")).result()), "answer 3, answer 4");
    });

    test("a tool that has to be a task is called by anybody: the gateway waits", async () => {
      const one = createWorker("one", back);
      // Nobody serves tasks in front.
      await using scene = await open({ one: one.config });
      const client = await scene.join(front);
      const { tools } = await client.listTools();
      assert(tools.some(({ name }) => name === "one__must"));
      assert(tools.every((tool) => (tool as { execution?: unknown }).execution === undefined));
      const seen: number[] = [];
      const result = await client.callTool("one__must", {}, { onProgress: ({ progress }) => void seen.push(progress) });
      assertEquals(textOf(result), "it had to be one");
      // A modern task tells no progress.
      if (back === "legacy") assertEquals(seen, [1, 2, 3]);
      const other = await scene.join(front, answering());
      assertEquals(textOf(await other.callTool("one__inquires")), "it was answer 1");
      const controller = new AbortController();
      const hanging = client.callTool("one__hangs", {}, { signal: controller.signal });
      await until(() => one.seen.begun === 1, "the tool");
      controller.abort(new Error("enough"));
      await assertRejects(() => hanging, Error, "enough");
      await until(() => one.seen.stopped === 1, "the end of the tool");
    });

    test("what is no task is none, and errors are those of the server", async () => {
      const one = createWorker("one", back);
      await using scene = await open({ one: one.config }, {}, served());
      const client = await scene.join(front, asClient);
      const { tools } = await client.listTools();
      if (front === "legacy") {
        const supports = (name: string) =>
          (tools.find((tool) => tool.name === name) as { execution?: { taskSupport?: string } }).execution?.taskSupport;
        assertEquals([supports("one__slow"), supports("one__must")], ["optional", "optional"]);
      }
      assertEquals(textOf(await client.callTool("one__plain")), "no task");
      await assertRejects(() => client.callToolTask("one__nothing"), RpcError, "one__nothing");
      await assertRejects(() => client.getTask("0123456789abcdef0123456789abcdef"), RpcError, "no such task");
      await scene.hub.remove("one");
      await assertRejects(() => client.callToolTask("one__slow"), RpcError, "one__slow");
    });
  });
}

describe("tasks of a gateway", () => {
  test("belong to who has begun them: nobody else sees, cancels or ends one", async () => {
    for (const front of ["modern", "legacy"] as const) {
      const one = createWorker("one", "legacy");
      await using scene = await open({ one: one.config });
      const handler = createHandler(scene.gateway, {
        eras: [front],
        tasks: createTasks({ pollInterval }),
        auth: (request) => ({ principal: request.headers.get("x-who") ?? "nobody" }),
      });
      const join = (who: string) =>
        connect("http://localhost/mcp", {
          ...asClient,
          headers: { "x-who": who },
          fetch: (url, init) => handler(new Request(url, init)),
        });
      await using ada = await join("ada");
      await using bob = await join("bob");
      await ada.listTools();
      const { taskId } = await ada.callToolTask("one__slow");
      await assertRejects(() => bob.getTask(taskId), RpcError, "no such task");
      for (const method of ["tasks/get", "tasks/cancel", front === "legacy" ? "tasks/result" : "tasks/update"]) {
        const params = method === "tasks/update" ? { taskId, inputResponses: {} } : { taskId };
        await assertRejects(() => bob.request(method, params), RpcError, "no such task");
      }
      if (front === "legacy") {
        assertEquals((await ada.listTasks()).map((task) => task.taskId), [taskId]);
        assertEquals(await bob.listTasks(), []);
      }
      one.open();
      assertEquals(textOf(await ada.awaitTask(taskId)), "one is done");
      handler.close();
    }
  });

  test("over Streamable HTTP behind: what a task asks and tells reaches its caller", async () => {
    for (const back of ["modern", "legacy"] as const) {
      const { server } = createWorker("one", back);
      const handler = createHandler(server, { eras: [back], tasks: createTasks({ pollInterval }) });
      const fetch = (url: string, init: RequestInit) => handler(new Request(url, init));
      const serves = createTasks({ pollInterval });
      await using scene = await open({ one: { url: "http://localhost/mcp" } }, {}, { fetch, serves });
      for (const front of ["modern", "legacy"] as const) {
        const clients = [await scene.join(front, answering()), await scene.join(front, answering())];
        const results = await Promise.all(clients.map(async (client) => {
          await client.listTools();
          return textOf(await (await client.callToolTask("one__asks")).result());
        }));
        assertEquals(results, ["answer 1, answer 2", "answer 1, answer 2"]);
        const plain = await scene.join(front);
        const seen: number[] = [];
        const onProgress = ({ progress }: { progress: number }) => void seen.push(progress);
        assertEquals(textOf(await plain.callTool("one__must", {}, { onProgress })), "it had to be one");
        if (back === "legacy") assertEquals(seen.at(-1), 3);
      }
      handler.close();
    }
  });

  test("what goes around the hub has its say: a call that is not approved begins no task", async () => {
    const one = createWorker("one", "legacy");
    const asked: string[] = [];
    const around = (hub: Parameters<typeof withApproval>[0]) =>
      withApproval(hub, ({ name }) => {
        asked.push(name);
        return false;
      });
    await using scene = await open({ one: one.config }, {}, { around, serves: createTasks({ pollInterval }) });
    const client = await scene.join("legacy", asClient);
    await client.listTools();
    const result = await (await client.callToolTask("one__slow")).result();
    assertEquals([result.isError, asked, one.seen.begun], [true, ["slow"], 0]);
  });

  test("too many in front: the caller is told, and the server's own is cancelled", async () => {
    const one = createWorker("one", "legacy");
    await using scene = await open({ one: one.config }, {}, { serves: createTasks({ pollInterval, maxRunning: 1 }) });
    const client = await scene.join("modern", asClient);
    await client.listTools();
    const first = await client.callToolTask("one__hangs");
    const second = await client.callToolTask("one__hangs").then((handle) => handle.result(), (error) => error);
    assert(JSON.stringify([second, String(second)]).includes("Busy"), String(second));
    await until(() => one.seen.stopped === 1, "the end of the second one");
    await first.cancel();
    await until(() => one.seen.stopped === 2, "the end of the first one");
  });

  test("a server that dies ends its tasks with a word", async () => {
    const one = createWorker("one", "legacy");
    await using scene = await open({ one: { ...one.config, maxRetries: 0 } }, {}, {
      serves: createTasks({ pollInterval }),
    });
    const client = await scene.join("modern", asClient);
    await client.listTools();
    const handle = await client.callToolTask("one__hangs");
    await scene.hub.remove("one");
    const result = await handle.result().catch((error) => error);
    assert(JSON.stringify([result, String(result)]).includes("one"), String(result));
  });

  test("without a relay nobody asks servers for tasks: what has to be one is not there", async () => {
    const one = createWorker("one", "legacy");
    await using scene = await open({ one: one.config }, { relay: undefined });
    const client = await scene.join("modern");
    const names = (await client.listTools()).tools.map(({ name }) => name);
    assertEquals([names.includes("one__must"), names.includes("one__slow")], [false, true]);
    await assertRejects(() => client.callTool("one__must"), RpcError, "one__must");
  });
});
