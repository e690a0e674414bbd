import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { Client, connect, HttpTransport, McpError, UnauthorizedError } from "../../../mod.ts";
import type { Change } from "../../../mod.ts";
import { objectAt } from "../../servers/core/wire.ts";
import { memoryFetch } from "../../servers/memory_fetch.ts";
import { createModernServer, type ModernServer } from "../../servers/modern.ts";
import type { PipeServer } from "../../servers/pipe.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { listening, take } from "./support.ts";
import {
  createPipe,
  front,
  type Options,
  paramsOf,
  sent,
  turns,
  until,
  url,
  withModern,
  withPipe,
} from "../support.ts";

const lists = { tools: true, prompts: true, resources: true };

/** The same over both bindings of the modern era. */
function onBoth(
  name: string,
  run: (client: Client, server: ModernServer | PipeServer) => Promise<void>,
  client: Options = {},
): void {
  test(`${name} (HTTP)`, () => withModern(run, { client }));
  test(`${name} (pipe)`, () =>
    withPipe((client, { server }) => run(client, server), { server: { era: "modern" }, client }));
}

describe("listening to a modern server", () => {
  onBoth(
    "changes come in the order they happened, only those that were asked for (C-146 C-149)",
    async (client, server) => {
      const some = client.listen({ tools: true, resourceUris: ["test://text"] });
      const all = client.listen(lists);
      await Promise.all([some.acknowledged, all.acknowledged]);
      assertEquals(server.listeners(), 2);
      server.emit({ type: "prompts" });
      server.emit({ type: "resource", uri: "test://text" });
      server.emit({ type: "resource", uri: "test://other" });
      server.emit({ type: "tools" });
      assertEquals(await take(some, 2), [{ type: "resource", uri: "test://text" }, { type: "tools" }]);
      assertEquals(await take(all, 2), [{ type: "prompts" }, { type: "tools" }]);
      some.close();
      all.close();
      await until(() => server.listeners() === 0);
    },
  );

  onBoth(
    "the filter on the wire says only what is on, and what the server honours is told (C-146 C-147)",
    async (client, server) => {
      const stream = client.listen({ tools: true, prompts: false, resourceUris: ["test://text"] });
      const honoured = await stream.acknowledged;
      assertEquals([honoured.tools, honoured.prompts, honoured.resourceUris], [true, false, ["test://text"]]);
      assertEquals(paramsOf(server, "subscriptions/listen").map(({ notifications }) => notifications), [
        { toolsListChanged: true, resourceSubscriptions: ["test://text"] },
      ]);
      stream.close();
    },
  );

  onBoth("the same change many times is told once to who has not looked yet", async (client, server) => {
    const stream = client.listen(lists);
    await stream.acknowledged;
    for (let index = 0; index < 50; index++) server.emit({ type: index % 2 ? "tools" : "prompts" });
    await turns();
    assertEquals(await take(stream, 2), [{ type: "prompts" }, { type: "tools" }]);
    server.emit({ type: "resources" });
    assertEquals(await take(stream, 1), [{ type: "resources" }]);
    stream.close();
  });

  onBoth("a loop over it ends with break, and the server hears of it", async (client, server) => {
    const stream = client.listen({ tools: true });
    void stream.acknowledged.then(() => server.emit({ type: "tools" }));
    for await (const change of stream) {
      assertEquals(change, { type: "tools" });
      break;
    }
    await stream.ended;
    await until(() => server.listeners() === 0);
    assertEquals(await stream.next(), { done: true, value: undefined });
  });

  onBoth("close ends it at once, also while somebody waits", async (client, server) => {
    const stream = client.listen({ tools: true });
    await stream.acknowledged;
    const next = stream.next();
    stream.close();
    stream.close();
    assertEquals(await next, { done: true, value: undefined });
    await stream.ended;
    await until(() => server.listeners() === 0);
  });

  onBoth("closed while it is opened: the server is left with no listener", async (client, server) => {
    client.listen({ tools: true }).close();
    const stream = client.listen({ tools: true });
    await stream.acknowledged;
    await until(() => server.listeners() === 1);
    stream.close();
    await until(() => server.listeners() === 0);
  });

  onBoth("a signal ends it: who waits gets its reason", async (client, server) => {
    const reason = new Error("enough");
    const controller = new AbortController();
    const stream = client.listen({ tools: true }, { signal: controller.signal });
    await stream.acknowledged;
    const next = assertRejects(() => stream.next());
    controller.abort(reason);
    assertEquals(await next, reason);
    await until(() => server.listeners() === 0);
    const late = client.listen({ tools: true }, { signal: controller.signal });
    assertEquals(await assertRejects(() => late.acknowledged), reason);
    assertEquals(sent(server, "subscriptions/listen").length, 1);
  });

  onBoth("a graceful end by the server ends the loop; nobody opens it again (C-150)", async (client, server) => {
    const stream = client.listen({ tools: true });
    await stream.acknowledged;
    server.emit({ type: "tools" });
    await turns();
    server.endSubscriptions();
    const changes: Change[] = [];
    for await (const change of stream) changes.push(change);
    assertEquals(changes, [{ type: "tools" }]);
    await turns();
    assertEquals(sent(server, "subscriptions/listen").length, 1);
  });

  onBoth("closing the client ends all of them", async (client, server) => {
    const streams = [client.listen({ tools: true }), client.listen({ prompts: true })];
    await Promise.all(streams.map(({ acknowledged }) => acknowledged));
    await client.close();
    for (const stream of streams) assertEquals(await stream.next(), { done: true, value: undefined });
    await until(() => server.listeners() === 0);
  });

  onBoth("listen connects by itself", async (client, server) => {
    const stream = client.listen({ tools: true });
    await stream.acknowledged;
    assertEquals([client.era, server.count("server/discover")], ["modern", 1]);
    stream.close();
  });

  onBoth("one resource: subscribeResource", async (client, server) => {
    const stream = client.subscribeResource("test://watched");
    await stream.acknowledged;
    server.emit({ type: "resource", uri: "test://watched" });
    assertEquals(await take(stream, 1), [{ type: "resource", uri: "test://watched" }]);
    stream.close();
  });

  test("nothing runs out while it is silent: no time-out applies (C-151)", async () => {
    const clock = new VirtualClock();
    const server = createModernServer();
    const timeouts = { headers: 2_000, idle: 3_000, total: 5_000 };
    const client = await clock.until(connect(url, { fetch: memoryFetch(server), clock, timeouts }));
    const stream = client.listen({ tools: true });
    await clock.until(stream.acknowledged);
    await clock.advance(30_000);
    assertEquals(server.listeners(), 1);
    server.emit({ type: "tools" });
    assertEquals(await take(stream, 1), [{ type: "tools" }]);
    await client.close();
  });
});

describe("a stream of changes that breaks", () => {
  test("is opened again after about a second, with a new id; what may be missed is told (C-067 C-068 C-150 C-151)", async () => {
    const server = createModernServer();
    const { clock, client, stream } = await listening(server, { tools: true, resourceUris: ["test://text"] });
    server.dropSubscriptions();
    await clock.advance(700);
    assertEquals(sent(server, "subscriptions/listen").length, 1);
    await clock.advance(600);
    assertEquals(server.listeners(), 1);
    assertEquals(await take(stream, 2), [
      { type: "tools", missed: true },
      { type: "resource", uri: "test://text", missed: true },
    ]);
    server.emit({ type: "tools" });
    assertEquals(await take(stream, 1), [{ type: "tools" }]);
    const ids = sent(server, "subscriptions/listen").map(({ id }) => id);
    assertEquals([ids.length, new Set(ids).size], [2, 2]);
    await client.close();
    assertEquals(server.violations, []);
  });

  test("who wants to know hears of each break, and not of an end that was wanted", async () => {
    const clock = new VirtualClock();
    const server = createModernServer();
    const breaks: unknown[] = [];
    const onBreak = (reason: unknown) => void breaks.push(reason);
    const client = await clock.until(connect(url, { fetch: memoryFetch(server), clock, onBreak }));
    const [first, second] = [client.listen({ tools: true }), client.listen({ prompts: true })];
    await clock.until(Promise.all([first.acknowledged, second.acknowledged]));
    second.close();
    server.dropSubscriptions();
    await clock.settle();
    assertEquals([breaks.length, breaks[0] instanceof McpError], [1, true]);
    await clock.advance(2_000);
    server.endSubscriptions();
    assertEquals(await take(first, 2), [{ type: "tools", missed: true }]);
    await client.close();
    assertEquals(breaks.length, 1);
  });

  test("it can be left out, and the other parts stay", async () => {
    await using client = await connect(url, {
      fetch: memoryFetch(createModernServer()),
      features: { listen: undefined },
      handlers: { elicitation: () => ({ action: "accept", content: { name: "Grace" } }) },
    });
    assertThrows(() => client.listen({ tools: true }), TypeError, "features.listen");
    assertEquals((await client.callTool("ask")).isError ?? false, false);
  });

  test("a server that is down for good: calm tries, then the error", async () => {
    const inner = createModernServer();
    let down = false;
    const server = front(inner, () => down ? new Response("", { status: 503 }) : undefined);
    const { clock, client, stream } = await listening(server, { tools: true });
    down = true;
    inner.dropSubscriptions();
    const started = clock.monotonic();
    await assertRejects(() => clock.until(stream.next()), McpError);
    const tries = server.methods.filter((method) => method === "subscriptions/listen").length - 1;
    assert(tries >= 5 && tries <= 20, `${tries} tries`);
    assert(clock.monotonic() - started > 120_000, `${clock.monotonic() - started} ms`);
    assertEquals(await stream.next(), { done: true, value: undefined });
    await client.close();
  });

  test("a server that refuses it: the error at once, nothing is tried again", async () => {
    const server = front(
      createModernServer(),
      (seen) => seen.method === "subscriptions/listen" ? new Response("", { status: 403 }) : undefined,
    );
    await using client = await connect(url, { fetch: memoryFetch(server) });
    const stream = client.listen({ tools: true });
    await assertRejects(() => stream.acknowledged, UnauthorizedError);
    await assertRejects(() => stream.next(), UnauthorizedError);
    assertEquals(server.methods, ["server/discover", "subscriptions/listen"]);
  });

  test("on a pipe, a notice from the server ends it without an error, or it is opened again (C-135)", async () => {
    const clock = new VirtualClock();
    const pipe = createPipe({ era: "modern" });
    const client = await clock.until(connect(pipe.transport, { clock }));
    const stream = client.listen({ tools: true });
    await clock.until(stream.acknowledged);
    pipe.server.endSubscriptions("drop");
    await clock.advance(2_000);
    assertEquals(await take(stream, 1), pipe.server.listeners() === 1 ? [{ type: "tools", missed: true }] : []);
    await client.close();
    assertEquals([pipe.servers.length, pipe.server.violations], [1, []]);
  });

  test("on a pipe whose server died: opened again with the next server (C-068)", async () => {
    const clock = new VirtualClock();
    const pipe = createPipe({ era: "modern" });
    const client = await clock.until(connect(pipe.transport, { clock }));
    const stream = client.listen({ tools: true });
    await clock.until(stream.acknowledged);
    pipe.die();
    await clock.advance(2_000);
    assertEquals([pipe.servers.length, pipe.server.listeners()], [2, 1]);
    assertEquals(await take(stream, 1), [{ type: "tools", missed: true }]);
    pipe.server.emit({ type: "tools" });
    assertEquals(await take(stream, 1), [{ type: "tools" }]);
    await client.close();
  });

  test("changes of somebody else's stream do not count, whatever the type of their id (C-064 C-148)", async () => {
    const key = "io.modelcontextprotocol/subscriptionId";
    const server = front(createModernServer(), ({ method, message }) => {
      if (method !== "subscriptions/listen") return undefined;
      const note = (name: string, id: unknown, params = {}) =>
        `data: ${JSON.stringify({ jsonrpc: "2.0", method: name, params: { ...params, _meta: { [key]: id } } })}\n\n`;
      const { id } = message ?? {};
      const acknowledged = note("notifications/subscriptions/acknowledged", id, { notifications: lists });
      const body = note("notifications/tools/list_changed", id) + acknowledged +
        note("notifications/prompts/list_changed", "another") + note("notifications/prompts/list_changed", 1) +
        note("notifications/resources/list_changed", id) +
        `data: ${JSON.stringify({ jsonrpc: "2.0", id, result: { resultType: "complete", _meta: { [key]: id } } })}\n\n`;
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    });
    await using client = await connect(url, { fetch: memoryFetch(server) });
    const changes: Change[] = [];
    for await (const change of client.listen({ tools: true, prompts: true, resources: true })) changes.push(change);
    assertEquals(changes, [{ type: "resources" }]);
    assertEquals(objectAt(server.seen[1]?.message ?? {}, "params").notifications, {
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: true,
    });
  });

  test("only true is an acknowledgement", async () => {
    const notifications = { toolsListChanged: "false", promptsListChanged: 1, resourcesListChanged: true };
    const params = { notifications };
    const notice = JSON.stringify({ jsonrpc: "2.0", method: "notifications/subscriptions/acknowledged", params });
    const server = front(
      createModernServer(),
      ({ method }) =>
        method === "subscriptions/listen"
          ? new Response(`data: ${notice}\n\n`, { headers: { "content-type": "text/event-stream" } })
          : undefined,
    );
    await using client = await connect(url, { fetch: memoryFetch(server) });
    const honoured = await client.listen(lists).acknowledged;
    assertEquals(honoured, { tools: false, prompts: false, resources: true, resourceUris: [] });
  });

  test("without the feature it says what is missing", () => {
    const client = new Client(new HttpTransport(url, { fetch: memoryFetch(createModernServer()) }));
    try {
      client.listen({ tools: true });
      throw new Error("it was taken");
    } catch (error) {
      assert(error instanceof TypeError && error.message.includes("features.listen"), String(error));
    }
  });
});
