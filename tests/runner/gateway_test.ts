import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "node:test";
import { ChannelTransport, connect, createWebSocketChannel, InvalidParamsError, UnauthorizedError } from "../../mod.ts";
import type { Client, Verdict } from "../../mod.ts";
import { Relay } from "../../src/hub/gateway/calls/relay.ts";
import { createRelay } from "../../src/hub/gateway/mod.ts";
import { createApiKey, createKeyList, createPolicy, createRunner } from "../../src/runner/mod.ts";
import type { Policy } from "../../src/runner/mod.ts";
import { McpServer, protectResource } from "../../src/server/mod.ts";
import { inMemory, openHub, textOf } from "../hub/support.ts";
import { until } from "../support/clients.ts";
import { VirtualClock } from "../support/virtual_clock.ts";
import { joinedSockets } from "./support/joined_sockets.ts";
import { createWorld, problemOf } from "./support/world.ts";
import type { World } from "./support/world.ts";

const principals = {
  ada: { principal: "ada", tenant: "acme" },
  bob: { principal: "bob", tenant: "acme" },
  eve: { principal: "ada", tenant: "other" },
};
const policy = [
  { principals: ["ada"], effect: "allow" as const },
  { principals: ["bob"], tools: ["echo"], actions: ["call" as const], effect: "allow" as const },
  { principals: ["bob"], tools: ["send"], actions: ["call" as const], effect: "ask" as const },
];

function open(world: World, as: string, verdict?: Verdict): Promise<Client> {
  return connect("http://localhost/mcp", {
    fetch: (url, init) => world.runner.fetch(new Request(url, init)),
    headers: { authorization: `Bearer ${world.key(as)}` },
    ...(verdict && { verdict }),
  });
}

async function openSocket(world: World, as: string): Promise<Client> {
  const request = new Request("http://localhost/mcp", {
    headers: {
      authorization: `Bearer ${world.key(as)}`,
      upgrade: "websocket",
      connection: "upgrade",
      "sec-websocket-protocol": "mcp",
    },
  });
  const accept = await world.runner.webSocket.admit(request);
  if (accept instanceof Response) throw new Error(`${accept.status} ${await accept.text()}`);
  const [near, far] = joinedSockets();
  accept(far);
  const openWebSocket = () => Promise.resolve(near);
  return await connect(
    new ChannelTransport(() => createWebSocketChannel("ws://localhost/mcp", { openWebSocket })),
  );
}

const ways = [
  ["modern, over HTTP", (world: World, as: string) => open(world, as)],
  ["legacy, over HTTP", (world: World, as: string) => open(world, as, { era: "legacy" })],
  ["over WebSocket", openSocket],
] as const;

describe("the gateway of a runner", () => {
  for (const [name, connectAs] of ways) {
    it(`shows each principal its own: ${name}`, async () => {
      await using world = await createWorld({ principals, policy });
      await using ada = await connectAs(world, "ada");
      await using bob = await connectAs(world, "bob");
      await using eve = await connectAs(world, "eve");
      const names = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);
      assertEquals(await names(ada), ["alpha__echo", "alpha__send"]);
      assertEquals(await names(bob), ["alpha__echo", "alpha__send"]);
      assertEquals((await ada.listResources()).resources.length, 2);
      assertEquals((await bob.listResources()).resources.length, 0);
      assertEquals((await bob.listPrompts()).prompts.length, 0);
      assertEquals(textOf(await ada.callTool("alpha__echo", {})), "acme/alpha/echo: {}");
      assertEquals(textOf(await eve.callTool("alpha__echo", {})), "other/alpha/echo: {}");
      const asked = await bob.callTool("alpha__send", {});
      assertEquals([asked.isError, textOf(asked).includes("wants the approval of a person")], [true, true]);
      await assertRejects(() => bob.readResource("note://alpha/echo"), InvalidParamsError);
      assertEquals(world.ledger.map(({ tenant, tool }) => [tenant, tool]), [["acme", "echo"], ["other", "echo"]]);
      assert(world.audit.some(({ principal, outcome }) => principal === "bob" && outcome === "ask"));
    });
  }

  it("tells progress, and passes resources and prompts on", async () => {
    await using world = await createWorld({ principals, policy });
    await using ada = await open(world, "ada");
    const seen: unknown[] = [];
    await ada.callTool("alpha__echo", {}, { onProgress: (progress) => void seen.push(progress.message) });
    assertEquals(seen, ["half of it"]);
    const { contents } = await ada.readResource("note://alpha/send");
    assertEquals((contents[0] as { text: string }).text, "the note send of alpha in acme");
    const { messages } = await ada.getPrompt("alpha__greet", { who: "you" });
    assertEquals((messages[0]?.content as { text: string }).text, "hello you from alpha in acme");
  });

  it("lists all pages, and reads by the names of servers, for who may use what they may not see", async () => {
    const tools = Array.from({ length: 60 }, (_, at) => `t${10 + at}`);
    const seen = { servers: ["two"], actions: ["see" as const], effect: "allow" as const };
    const used = { actions: ["call" as const, "read" as const], effect: "allow" as const };
    const names = ["one", "two", "three"].flatMap((server) => tools.map((tool) => `${server}__${tool}`));
    for (const policy of [[used], [used, seen]]) {
      await using world = await createWorld({ policy, tools, servers: ["one", "two", "three"] });
      for (const [way, connectAs] of ways) {
        await using client = await connectAs(world, "ada");
        assertEquals((await client.listTools()).tools.map(({ name }) => name).sort(), names.toSorted(), way);
        const uris = (await client.listResources()).resources.map(({ uri }) => uri);
        assertEquals([uris.length, new Set(uris).size], [180, 180]);
        const { contents } = await client.readResource("hub://one/note://one/t10");
        assertEquals((contents[0] as { text: string }).text, "the note t10 of one in acme");
      }
    }
  });

  it("follows a policy that changes while a client is connected", async () => {
    let current: Policy = createPolicy([{ effect: "allow" }]);
    const changing: Policy = { open: (principal, tenant) => current.open(principal, tenant) };
    await using world = await createWorld({ principals, policy: changing });
    for (const [name, connectAs] of ways) {
      current = createPolicy([{ effect: "allow" }]);
      await using client = await connectAs(world, "ada");
      assertEquals((await client.callTool("alpha__send", {})).isError ?? false, false);
      current = createPolicy([{ tools: ["echo"], effect: "allow" }]);
      const before = world.ledger.length;
      const hidden = await client.callTool("alpha__send", {}).catch((error: Error) => error);
      assert(hidden instanceof Error || hidden.isError, "a withdrawn tool was called");
      assertEquals(world.ledger.length, before);
      const listed = async () => (await client.listTools()).tools.map(({ name }) => name);
      assertEquals(await listed(), ["alpha__echo"]);
      // Nothing was called since.
      current = createPolicy([{ effect: "allow" }]);
      assertEquals(await listed(), ["alpha__echo", "alpha__send"], name);
      current = createPolicy([{ tools: ["send"], effect: "allow" }]);
      assertEquals(await listed(), ["alpha__send"], name);
      current = createPolicy([{ effect: "allow" }]);
      assertEquals(textOf(await client.callTool("alpha__echo", {})), "acme/alpha/echo: {}", name);
      current = createPolicy([{ tools: ["send"], effect: "allow" }]);
      assertEquals((await client.listPrompts()).prompts, []);
      current = createPolicy([{ effect: "allow" }]);
      assertEquals((await client.getPrompt("alpha__greet", { who: "you" })).messages.length, 1, name);
    }
  });

  it("lets nobody in who is not known, over HTTP and WebSocket", async () => {
    await using world = await createWorld({ principals });
    await assertRejects(() => open(world, "nobody"), UnauthorizedError);
    for (
      const [path, headers, status] of [
        ["/mcp", { authorization: "Bearer causeway_x" }, 401],
        ["/mcp", {}, 401],
        ["/mcp", { authorization: `Bearer ${world.key("ada")}`, origin: "https://attacker.test" }, 403],
        ["/mcp", { authorization: `Bearer ${world.key("ada")}`, host: "attacker.test" }, 403],
        ["/api/tools", { authorization: `Bearer ${world.key("ada")}` }, 404],
      ] as const
    ) {
      const upgrade = { upgrade: "websocket", connection: "upgrade", "sec-websocket-protocol": "mcp" };
      const reply = await world.runner.webSocket.admit(
        new Request(`http://localhost${path}`, { headers: { ...headers, ...upgrade } }),
      );
      assert(reply instanceof Response);
      assertEquals((await problemOf(reply)).status, status);
    }
  });

  it("ends a socket whose key was withdrawn", async () => {
    const clock = new VirtualClock();
    let isOut = false;
    const find = () => isOut ? undefined : principals.ada;
    await using world = await createWorld({ clock, access: { keys: { find } } });
    const client = await openSocket(world, "ada");
    await clock.advance(200_000);
    assertEquals(textOf(await client.callTool("alpha__echo", { text: "a" })), 'acme/alpha/echo: {"text":"a"}');
    isOut = true;
    await clock.advance(61_000);
    await assertRejects(() => client.callTool("alpha__echo", { text: "b" }));
    assertEquals(world.ledger.length, 1);
    await client.close();
  });

  it("ends a socket that is let in while the runner closes, whenever that is", async () => {
    const rules = createPolicy(policy);
    for (let nth = 1; nth <= 3; nth++) {
      let opened = 0;
      const closing: Policy = {
        open: (...who) => {
          if (++opened === nth) void world.runner.close();
          return rules.open(...who);
        },
      };
      await using world = await createWorld({ principals, policy: closing });
      const request = new Request("http://localhost/mcp", {
        headers: {
          authorization: `Bearer ${world.key("ada")}`,
          upgrade: "websocket",
          connection: "upgrade",
          "sec-websocket-protocol": "mcp",
        },
      });
      const accept = await world.runner.webSocket.admit(request);
      if (accept instanceof Response) {
        assertEquals((await problemOf(accept)).code, "closing");
        continue;
      }
      const [near, far] = joinedSockets();
      accept(far);
      await world.runner.close();
      await until(() => near.readyState === 3);
    }
  });

  it("takes what servers ask to who has called", async () => {
    const server = new McpServer({ name: "asker", version: "1.0.0" });
    server.tool("ask", {}, async (_, { elicit }) => {
      const { action, content } = await elicit({
        message: "Which one?",
        requestedSchema: { type: "object", properties: { one: { type: "string" } } },
      });
      return `${action} ${content?.one}`;
    });
    const { key, hash } = await createApiKey();
    const relay = createRelay();
    const { handlers, features } = relay;
    await using runner = createRunner({
      relay: () => relay,
      hubs: () => openHub({ asker: inMemory(server).config }, { handlers, features }),
      access: {
        keys: createKeyList([{ hash, principal: "ada", tenant: "acme" }]),
        policy: createPolicy([{ effect: "allow" }]),
      },
    });
    for (const era of ["modern", "legacy"] as const) {
      await using client = await connect("http://localhost/mcp", {
        fetch: (url, init) => runner.fetch(new Request(url, init)),
        headers: { authorization: `Bearer ${key}` },
        handlers: { elicitation: () => ({ action: "accept", content: { one: "this" } }) },
        verdict: { era },
      });
      assertEquals(textOf(await client.callTool("asker__ask", {})), "accept this", era);
    }
  });

  it("tells who watches a resource of its changes, as long as it may be read", async () => {
    const server = new McpServer({ name: "desk", version: "1.0.0" });
    for (const name of ["open", "late", "secret"]) server.resource(`note://${name}`, {}, () => name);
    const keys = { ada: await createApiKey(), bob: await createApiKey() };
    const rulesOf = (...names: string[]) =>
      createPolicy([
        { principals: ["ada"], effect: "allow" },
        { actions: ["see"], effect: "allow" },
        { tools: names.map((name) => `note://${name}*`), actions: ["read"], effect: "allow" },
      ]);
    let current = rulesOf("open", "late");
    await using runner = createRunner({
      hubs: () => openHub({ desk: inMemory(server).config }),
      access: {
        keys: createKeyList([
          { hash: keys.ada.hash, principal: "ada", tenant: "acme" },
          { hash: keys.bob.hash, principal: "bob", tenant: "acme" },
        ]),
        policy: { open: (principal, tenant) => current.open(principal, tenant) },
      },
    });
    const watchAs = async (key: string, era: "modern" | "legacy") => {
      const client = await connect("http://localhost/mcp", {
        fetch: (url, init) => runner.fetch(new Request(url, init)),
        headers: { authorization: `Bearer ${key}` },
        verdict: { era },
      });
      const seen: string[] = [];
      const climbing = "note://open/../secret";
      const resourceUris = ["note://open", "note://late", "note://secret", "hub://desk/note://secret", climbing];
      const subscription = client.listen({ resourceUris });
      void (async () => {
        for await (const change of subscription) if (change.type === "resource") seen.push(change.uri);
      })();
      await subscription.acknowledged;
      return { client, seen, [Symbol.asyncDispose]: () => client.close() };
    };
    const updatedUntil = async (uris: readonly string[], condition: () => boolean) => {
      // It is watched at its server a moment later.
      await until(() => {
        for (const uri of uris) server.resourceUpdated(uri);
        return condition();
      });
    };
    for (const era of ["modern", "legacy"] as const) {
      current = rulesOf("open", "late");
      await using ada = await watchAs(keys.ada.key, era);
      await using bob = await watchAs(keys.bob.key, era);
      const all = ["note://secret", "hub://desk/note://secret", "note://open/../secret", "note://late", "note://open"];
      await updatedUntil(
        all,
        () => new Set(ada.seen).size >= 3 && ["note://open", "note://late"].every((uri) => bob.seen.includes(uri)),
      );
      // Whoever listens alone sends no request with which it would be opened anew.
      current = rulesOf("open");
      // What is on its way still comes.
      for (let round = 0; round < 2; round++) {
        bob.seen.length = ada.seen.length = 0;
        await updatedUntil(all, () => bob.seen.length >= 3 && ada.seen.includes("note://secret"));
      }
      assertEquals([...new Set(bob.seen)], ["note://open"], era);
    }
  });

  it("tells who watches over a WebSocket what may be read since, though nothing was asked in between", async () => {
    const server = new McpServer({ name: "desk", version: "1.0.0" });
    server.resource("note://late", {}, () => "late");
    let [current, opened] = [createPolicy([{ effect: "allow" }, { actions: ["read"], effect: "deny" }]), 0];
    const policy: Policy = { open: (principal, tenant) => (opened++, current.open(principal, tenant)) };
    await using world = await createWorld({ principals, policy });
    await using client = await openSocket(world, "ada");
    await (await world.hub("acme")).add("desk", inMemory(server).config);
    [current, opened] = [createPolicy([{ effect: "allow" }]), 0];
    const resourceUris = Array.from({ length: 100 }, (_, at) => at === 50 ? "note://late" : `note://nobody/${at}`);
    const changes = client.listen({ resourceUris });
    await changes.acknowledged;
    assert(opened < 5, `${opened} looks at the policy`);
    let isTold = false;
    void changes[Symbol.asyncIterator]().next().then(() => isTold = true);
    await until(() => (server.resourceUpdated("note://late"), isTold));
  });

  it("judges each program that speaks for a principal by itself", async () => {
    const resource = protectResource({
      resource: "https://runner.example/mcp",
      authorizationServers: ["https://auth.example.com"],
      verify: (clientId) => ({
        subject: "ada",
        clientId,
        audience: "https://runner.example/mcp",
        issuer: "https://auth.example.com",
      }),
    });
    const policy = createPolicy(({ principal }) => principal.clientId === "trusted" ? "allow" : "deny");
    await using world = await createWorld({ policy, access: { tokens: { resource, tenantOf: () => "acme" } } });
    const toolsOf = async (program: string) => {
      await using client = await connect("http://localhost/mcp", {
        fetch: (url, init) => world.runner.fetch(new Request(url, init)),
        headers: { authorization: `Bearer ${program}` },
      });
      return (await client.listTools()).tools.length;
    };
    assertEquals([await toolsOf("trusted"), await toolsOf("other"), await toolsOf("trusted")], [2, 0, 2]);
  });

  it("calls visitors what nobody else is called", async () => {
    const server = new McpServer({ name: "asker", version: "1.0.0" });
    server.tool("ask", {}, () => "asked");
    const callers: (string | undefined)[] = [];
    const relay = new (class extends Relay {
      override begin(call: Parameters<Relay["begin"]>[0]): void {
        callers.push(call.caller);
        super.begin(call);
      }
    })({});
    const { handlers, features } = relay;
    const keys = [await createApiKey(), await createApiKey()] as const;
    const tenants = ["acme", "other"] as const;
    await using runner = createRunner({
      relay: () => relay,
      hubs: () => openHub({ asker: inMemory(server).config }, { handlers, features }),
      access: {
        keys: createKeyList(keys.map(({ hash }, at) => ({ hash, principal: "ada", tenant: tenants[at] ?? "" }))),
        policy: createPolicy([{ tenants: ["*"], effect: "allow" }]),
      },
    });
    for (const { key } of keys) {
      await using client = await connect("http://localhost/mcp", {
        fetch: (url, init) => runner.fetch(new Request(url, init)),
        headers: { authorization: `Bearer ${key}`, "causeway-tenant": "acme" },
      });
      await client.callTool("asker__ask", {});
    }
    assertEquals(callers, ["ada", "@5:other/ada"]);
  });

  it("a session belongs to its principal", async () => {
    await using world = await createWorld({ principals });
    const initialize = {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
    };
    const accept = { accept: "application/json, text/event-stream" };
    const begun = await world.ask("/mcp", { body: initialize, headers: accept });
    await begun.body?.cancel();
    const session = begun.headers.get("mcp-session-id") ?? "";
    assert(session);
    const list = { jsonrpc: "2.0", id: 2, method: "tools/list" };
    const headers = { ...accept, "mcp-session-id": session, "mcp-protocol-version": "2025-11-25" };
    assertEquals((await world.ask("/mcp", { body: list, headers })).status, 200);
    for (const as of ["bob", "eve"]) {
      const response = await world.ask("/mcp", { as, body: list, headers });
      assertEquals(response.status, 404);
      await response.body?.cancel();
    }
  });
});
