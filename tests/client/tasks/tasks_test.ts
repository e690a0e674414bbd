import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  Client,
  connect,
  HttpTransport,
  InternalError,
  InvalidParamsError,
  MethodNotFoundError,
  OutcomeUnknownError,
  taskSupport,
  TimeoutError,
} from "../../../mod.ts";
import type { JsonObject, Task } from "../../../mod.ts";
import { createLegacyServer } from "../../servers/legacy.ts";
import type { LegacyOptions, LegacyServer } from "../../servers/legacy.ts";
import { memoryFetch } from "../../servers/memory_fetch.ts";
import { createModernServer } from "../../servers/modern.ts";
import type { ModernOptions, ModernServer } from "../../servers/modern.ts";
import { turns } from "../../support/clients.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";

const url = "http://server.test/mcp";
const related = "io.modelcontextprotocol/related-task";
type Options = NonNullable<Parameters<typeof connect>[1]>;

interface Setup<Server> {
  readonly clock: VirtualClock;
  readonly server: Server;
  readonly client: Client;
}

async function join<Server extends ModernServer | LegacyServer>(
  make: (clock: VirtualClock) => Server,
  options: Options = {},
): Promise<Setup<Server>> {
  const clock = new VirtualClock();
  const server = make(clock);
  const client = await connect(url, { fetch: memoryFetch(server), clock, tasks: taskSupport, ...options });
  return { clock, server, client };
}

const modern = (options: Options = {}, more: ModernOptions = {}) =>
  join((clock) => createModernServer({ clock, ...more }), options);
const legacy = (options: Options = {}, more: LegacyOptions = {}) =>
  join((clock) => createLegacyServer({ clock, ...more }), options);
const eras = [["modern", modern], ["legacy", legacy]] as const;

/** The requests of one method that the server saw. */
function sent({ server }: Setup<ModernServer | LegacyServer>, method: string): JsonObject[] {
  return server.log.map(({ message }) => message ?? {}).filter((message) => message.method === method)
    .map(({ params }) => params as JsonObject);
}

const textOf = (result: { content?: unknown }) => (result.content as { text: string }[])[0]?.text;

for (const [era, setUp] of eras) {
  describe(`tasks of a ${era} server`, () => {
    test("whoever is told of its states may fail later", async () => {
      const { clock, client } = await setUp();
      const onStatus = () => Promise.reject(new Error("the page is gone"));
      const handle = await client.callToolTask("job", { polls: 1, text: "hello" }, { onStatus });
      assertEquals(textOf(await clock.until(handle.result())), "hello");
      // A rejection that nobody takes fails the run.
      await turns();
    });

    test("a task is followed to its result, at the pace that it asks for but no faster than ten times a second", async () => {
      const setup = await setUp();
      const { clock, server, client } = setup;
      assertEquals(client.era, era);
      const states: Task[] = [];
      const onStatus = (task: Task) => states.push(task);
      const handle = await client.callToolTask("job", { polls: 3, text: "hello" }, { onStatus, ttl: 60_000 });
      assertEquals(handle.task.status, "working");
      assertEquals(handle.task.pollIntervalMs, 5);
      assertEquals(handle.task.ttlMs, era === "legacy" ? 60_000 : 3_600_000);
      assert(!("ttl" in handle.task) && !("pollInterval" in handle.task));
      const startedAt = clock.monotonic();
      assertEquals(textOf(await clock.until(handle.result())), "hello");
      assertEquals(clock.monotonic() - startedAt, 400);
      assertEquals(server.count("tasks/get"), 4);
      assertEquals(states.map(({ status }) => status), ["working", "working", "working", "working", "completed"]);
      assertEquals(states.every(({ taskId }) => taskId === handle.taskId), true);
      assertEquals(server.calls("job"), 1);
      assertEquals(server.violations, []);
      const looks = server.count("tasks/get");
      assertEquals(textOf(await handle.result()), "hello");
      assertEquals(server.count("tasks/get"), looks);
      await client.close();
    });

    test("a tool that fails is a result, a tool that breaks is the error of its code", async () => {
      const { clock, client } = await setUp();
      const wrong = await client.callToolTask("job", { error: true });
      const result = await clock.until(wrong.result());
      assertEquals([result.isError, textOf(result)], [true, "the job went wrong"]);
      const broken = await client.callToolTask("job", { fail: true });
      const error = await assertRejects(() => clock.until(broken.result()), InternalError, "the job failed");
      assertEquals([error.rpcCode, error.delivery, error.server], [-32603, "answered", client.label]);
      assertEquals(broken.task.status, "failed");
      await client.close();
    });

    test("what a task asks for is answered by the same handlers, once", async () => {
      let asked = 0;
      const setup = await setUp({
        handlers: {
          elicitation: (request) => {
            asked++;
            assertEquals(request.message, "Name for the job?");
            return { action: "accept", content: { name: "Ada" } };
          },
        },
      });
      const { clock, server, client } = setup;
      const states: string[] = [];
      const handle = await client.callToolTask("job", { ask: true }, { onStatus: ({ status }) => states.push(status) });
      assertEquals(textOf(await clock.until(handle.result())), 'job done for {"name":"Ada"}');
      assertEquals(asked, 1);
      assert(states.includes("input_required"));
      assertEquals(server.count("tasks/update"), era === "modern" ? 1 : 0);
      assertEquals(server.count("tasks/result"), era === "modern" ? 0 : 1);
      assertEquals(server.violations, []);
      await client.close();
    });

    test("a cancelled task ends as one of unknown outcome", async () => {
      const { clock, server, client } = await setUp();
      const handle = await client.callToolTask("job", { polls: 1000 });
      const result = handle.result();
      result.catch(() => {});
      await clock.advance(250);
      await handle.cancel();
      await assertRejects(() => clock.until(result), OutcomeUnknownError, "was cancelled");
      assertEquals(handle.task.status, "cancelled");
      assertEquals(server.count("tasks/cancel"), 1);
      assertEquals(server.count("notifications/cancelled"), 0);
      await client.close();
    });

    test("who listens to a task hears what becomes of it, and of no other", async () => {
      const { client } = await setUp();
      const [one, other] = [await client.callToolTask("job"), await client.callToolTask("job")];
      const stream = client.listen({ taskIds: [one.taskId] });
      await stream.acknowledged;
      await other.cancel();
      await one.cancel();
      const { value } = await stream.next();
      assertEquals([value.type, value.task.taskId, value.task.status], ["task", one.taskId, "cancelled"]);
      await client.close();
    });

    test("a task is found again by its id, and can be cancelled by it", async () => {
      const { clock, client } = await setUp();
      const { taskId } = await client.callToolTask("job", { polls: 2, text: "found" });
      const found = await client.getTask(taskId);
      assertEquals([found.taskId, found.task.status], [taskId, "working"]);
      assertEquals(textOf(await clock.until(client.awaitTask(taskId))), "found");
      const other = await client.callToolTask("job", { polls: 1000 });
      await client.cancelTask(other.taskId);
      assertEquals((await other.get()).status, "cancelled");
      await client.close();
    });

    test("a task that the server does not know is a wrong parameter", async () => {
      const { client } = await setUp();
      await assertRejects(() => client.getTask("gone"), InvalidParamsError, "Unknown task");
      await client.close();
    });

    test("giving up waiting leaves the task alone", async () => {
      const { clock, server, client } = await setUp();
      const handle = await client.callToolTask("job", { polls: 3, text: "still here" });
      const controller = new AbortController();
      const result = handle.result({ signal: controller.signal });
      result.catch(() => {});
      await clock.advance(150);
      const reason = new Error("enough");
      controller.abort(reason);
      assertEquals(await result.catch((error: unknown) => error), reason);
      const looks = server.count("tasks/get");
      await clock.advance(10_000);
      assertEquals(server.count("tasks/get"), looks);
      assertEquals(server.count("tasks/cancel"), 0);
      assertEquals(textOf(await clock.until(handle.result())), "still here");
      await client.close();
    });

    test("a signal that is aborted already looks at nothing", async () => {
      const { server, client } = await setUp();
      const handle = await client.callToolTask("job", {});
      const reason = new Error("too late");
      assertEquals(await handle.result({ signal: AbortSignal.abort(reason) }).catch((error: unknown) => error), reason);
      assertEquals(server.count("tasks/get"), 0);
      await client.close();
    });

    test("a server without tasks gives the result at once", async () => {
      const setup = await setUp({}, { tasks: false });
      const { server, client } = setup;
      const states: string[] = [];
      const handle = await client.callToolTask("echo", { text: "plain" }, {
        onStatus: ({ status }) => states.push(status),
      });
      assertEquals([handle.taskId, handle.task.status, states], ["", "completed", ["completed"]]);
      assertEquals((await handle.get()).status, "completed");
      await handle.cancel();
      assertEquals(textOf(await handle.result()), "plain");
      assertEquals(sent(setup, "tools/call").map(({ task }) => task), [undefined]);
      assertEquals([server.count("tasks/get"), server.count("tasks/cancel")], [0, 0]);
      await client.close();
    });

    test("a client that is not connected yet finds the era out before it speaks of tasks", async () => {
      const { clock, server, client } = await setUp();
      const transport = new HttpTransport(url, { fetch: memoryFetch(server) });
      const other = new Client(transport, { clock, tasks: taskSupport });
      assertEquals(other.era, undefined);
      const handle = await other.callToolTask("job", { text: "from cold" }, { ttl: 7_000 });
      assertEquals([other.era, handle.task.status], [era, "working"]);
      assertEquals(textOf(await clock.until(handle.result())), "from cold");
      await other.close();
      await client.close();
    });
  });
}

describe("tasks of the extension", () => {
  test("any tool call may become a task, and is followed without a word", async () => {
    const setup = await modern();
    const { clock, server, client } = setup;
    assertEquals(
      textOf(await clock.until(client.callTool("job_required", { text: "through a task" }))),
      "through a task",
    );
    assertEquals(textOf(await client.callTool("echo", { text: "plain" })), "plain");
    for (const method of ["tools/call", "tasks/get"]) {
      for (const { _meta } of sent(setup, method)) {
        const capabilities = (_meta as JsonObject)["io.modelcontextprotocol/clientCapabilities"] as JsonObject;
        assertEquals(capabilities.extensions, { "io.modelcontextprotocol/tasks": {} });
      }
    }
    const named = server.log.filter(({ message }) => message?.method === "tasks/get");
    assertEquals(named.map(({ headers }) => headers["mcp-name"]), sent(setup, "tasks/get").map(({ taskId }) => taskId));
    assertEquals(server.violations, []);
    await client.close();
  });

  test("a call that is given up while it is a task is cancelled by tasks/cancel", async () => {
    const setup = await modern();
    const { clock, server, client } = setup;
    const controller = new AbortController();
    const result = client.callTool("job", { polls: 1000 }, { signal: controller.signal });
    result.catch(() => {});
    await clock.advance(500);
    const reason = new Error("enough");
    controller.abort(reason);
    assertEquals(await result.catch((error: unknown) => error), reason);
    await clock.settle();
    assertEquals(server.count("tasks/cancel"), 1);
    assertEquals([...server.tasks.all.values()].map(({ status }) => status), ["cancelled"]);
    await client.close();
  });

  test("there is no list", async () => {
    const { server, client } = await modern();
    const error = await assertRejects(() => client.listTasks(), MethodNotFoundError, "Cannot list tasks");
    assertEquals([error.method, error.rpcCode], ["tasks/list", -32601]);
    assertEquals(server.count("tasks/list"), 0);
    await client.close();
  });
});

describe("tasks of 2025-11-25", () => {
  test("a tool that was listed as one that has to be a task becomes one by a plain call (C-244)", async () => {
    const setup = await legacy();
    const { clock, server, client } = setup;
    await client.listTools();
    assertEquals(textOf(await clock.until(client.callTool("job_required", { text: "done" }))), "done");
    assertEquals(sent(setup, "tools/call").map(({ task }) => task), [{}]);
    const late = client.callTool("job_required", { polls: 1_000 }, { timeout: 3_000 });
    await assertRejects(() => clock.until(late), TimeoutError);
    await clock.settle();
    assertEquals([server.count("tasks/cancel"), server.violations], [1, []]);
    const signal = AbortSignal.abort("enough");
    assertEquals(await client.callToolTask("job_required", {}, { signal }).catch((reason) => reason), "enough");
    assertEquals(server.count("tools/call"), 2);
    await client.close();
  });

  test("tasks are listed, in the shape of both wires", async () => {
    const { client } = await legacy();
    const first = await client.callToolTask("job", {}, { ttl: 1000 });
    const second = await client.callToolTask("job_required", {});
    const tasks = await client.listTasks();
    assertEquals(tasks.map(({ taskId, ttlMs }) => [taskId, ttlMs]), [[first.taskId, 1000], [second.taskId, null]]);
    assertEquals(Object.keys(tasks[0] ?? {}), [
      "taskId",
      "status",
      "createdAt",
      "lastUpdatedAt",
      "ttlMs",
      "pollIntervalMs",
    ]);
    await client.close();
  });

  test("a server that does not offer the list is not asked for it", async () => {
    const { server, client } = await legacy({}, {
      capabilities: { tools: {}, tasks: { requests: { tools: { call: {} } } } },
    });
    await assertRejects(() => client.listTasks(), MethodNotFoundError);
    assertEquals(server.count("tasks/list"), 0);
    await client.close();
  });

  test("a call asks for a task only where server and tool offer it", async () => {
    const setup = await legacy();
    const { client } = setup;
    await assertRejects(() => client.callToolTask("echo", { text: "unknown yet" }), MethodNotFoundError);
    await client.listTools();
    assertEquals(textOf(await (await client.callToolTask("echo", { text: "known" })).result()), "known");
    await client.callToolTask("job", {});
    await client.callToolTask("job_required", {}, { ttl: 5 });
    assertEquals(sent(setup, "tools/call").map(({ task }) => task), [{}, undefined, {}, { ttl: 5 }]);
    await client.close();
    const silent = await legacy({}, { capabilities: { tools: {}, tasks: {} } });
    await silent.client.callToolTask("job", { text: "no task" });
    assertEquals(sent(silent, "tools/call").map(({ task }) => task), [undefined]);
    await silent.client.close();
  });

  test("a call that is given up before the task has an id is cancelled when it has one, and by tasks/cancel alone", async () => {
    const clock = new VirtualClock();
    const server = createLegacyServer({ clock });
    const fetch = memoryFetch(server);
    let release = () => {};
    const held = new Promise<void>((resolve) => release = resolve);
    const client = await connect(url, {
      clock,
      tasks: taskSupport,
      async fetch(target, init) {
        const isCall = (await new Request(target, init).text()).includes("tools/call");
        const response = await fetch(target, init);
        if (isCall) await held;
        return response;
      },
    });
    const controller = new AbortController();
    const start = client.callToolTask("job", {}, { signal: controller.signal });
    await clock.settle();
    const reason = new Error("enough");
    controller.abort(reason);
    assertEquals(await start.catch((error: unknown) => error), reason);
    release();
    await clock.settle();
    assertEquals([server.count("tasks/cancel"), server.count("notifications/cancelled")], [1, 0]);
    await client.close();
  });

  test("the answer to what a task asks for names the task", async () => {
    const { clock, server, client } = await legacy({
      handlers: { elicitation: () => ({ action: "accept", content: { name: "Ada" } }) },
    });
    const handle = await client.callToolTask("job", { ask: true });
    await clock.until(handle.result());
    const answers = server.log.map(({ message }) => message?.result as JsonObject | undefined).filter((result) =>
      result
    );
    assertEquals(answers.map((result) => (result?._meta as JsonObject)?.[related]), [{ taskId: handle.taskId }]);
    await client.close();
  });

  test("a form may stay open for longer than a call may take", async () => {
    let answer = () => {};
    let asked = 0;
    const { clock, server, client } = await legacy({
      handlers: {
        elicitation: async () => {
          asked++;
          await new Promise<void>((resolve) => answer = resolve);
          return { action: "accept", content: { name: "Ada" } };
        },
      },
      timeouts: { headers: 300, idle: 300, total: 300 },
    });
    const handle = await client.callToolTask("job", { ask: true });
    const result = handle.result();
    await clock.advance(3_000);
    answer();
    assertEquals(textOf(await clock.until(result)), 'job done for {"name":"Ada"}');
    assertEquals([asked, server.count("tasks/result")], [1, 1]);
    await client.close();
  });
});
