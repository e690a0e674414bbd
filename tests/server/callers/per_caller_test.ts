/** One endpoint, a server for each caller: who is asked when, and what becomes of what goes wrong. */
import { describe, test } from "node:test";
import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { connect } from "../../../mod.ts";
import type { Client } from "../../../mod.ts";
import { InvalidRequestError } from "../../../src/protocol/errors.ts";
import {
  createHandler,
  createModernHandler,
  createTasks,
  McpServer,
  perCaller,
  protectResource,
  ToolServer,
} from "../../../src/server/mod.ts";
import type { Servable } from "../../../src/server/mod.ts";
import { taskSupport } from "../../../mod.ts";
import { heldRequest } from "../../support/held_request.ts";
import { gate, modernMeta, modernPost } from "../http/support.ts";
import { authOf, modern, openSession, serverOf, stage } from "./support.ts";
import type { Stage } from "./support.ts";

const ada = { "x-user": "ada" };
const ben = { "x-user": "ben" };

function clientOf({ handler }: Pick<Stage, "handler">, who: Readonly<Record<string, string>>): Promise<Client> {
  return connect("http://localhost/mcp", { headers: who, fetch: (url, init) => handler(heldRequest(url, init)) });
}

function text({ content }: Awaited<ReturnType<Client["callTool"]>>): string {
  const [first] = content;
  return first?.type === "text" ? first.text : "";
}

for (const era of ["modern", "legacy"] as const) {
  describe(`a server for each caller, ${era}`, () => {
    test("serves each with their own, made anew whenever it is asked for", async () => {
      const open = stage(({ auth }) => Promise.resolve(serverOf(auth?.principal ?? "nobody")), { eras: [era] });
      for (const who of ["ada", "ben"]) {
        await using client = await clientOf(open, { "x-user": who });
        assertEquals(client.era, era);
        assertEquals([client.info?.server?.name, client.info?.instructions], [`of-${who}`, `canary-${who}`]);
        assertEquals((await client.listTools()).tools.map(({ name }) => name), [`${who}-only`, "whose"]);
        assertEquals(text(await client.callTool(`${who}-only`)), `canary-${who} for ${who}`);
        assertEquals((await client.listResources()).resources.map(({ uri }) => uri), [`note://${who}`]);
      }
      const asked = open.asked.filter(({ auth }) => auth?.principal === "ada");
      if (era === "legacy") assertEquals(asked.length, 1);
      else assert(asked.length > 2);
      assert(asked.every(({ request }) => request.url === "http://localhost/mcp"));
    });

    test("asks a caller, and goes on with the server that they were asked by", async () => {
      const open = stage(() => {
        const server = new McpServer({ name: "asking", version: "1.0.0" });
        server.tool("ask", {}, async (_args, { elicit }) => (await elicit({ message: "Sure?" })).action);
        return server;
      }, { eras: [era] });
      await using client = await connect("http://localhost/mcp", {
        fetch: (url, init) => open.handler(heldRequest(url, init)),
        handlers: { elicitation: () => ({ action: "accept", content: {} }) },
      });
      assertEquals(text(await client.callTool("ask")), "accept");
    });

    test("finds a caller's tasks again, and nobody else's", async () => {
      const open = stage(({ auth }) => {
        const server = new McpServer({ name: "reports", version: "1.0.0" });
        server.tool("report", { task: "required" }, () => `of ${auth?.principal}`);
        return server;
      }, { eras: [era], tasks: createTasks() });
      const fetch = (url: string, init: RequestInit) => open.handler(heldRequest(url, init));
      const options = { fetch, tasks: taskSupport };
      await using first = await connect("http://localhost/mcp", { ...options, headers: ada });
      await using second = await connect("http://localhost/mcp", { ...options, headers: ben });
      const { taskId } = await first.callToolTask("report");
      assertEquals(text(await first.awaitTask(taskId)), "of ada");
      const stolen = await second.awaitTask(taskId).then(() => "found", () => "not there");
      assertEquals(stolen, "not there");
    });
  });
}

describe("the function that gives the server", () => {
  const wrong: readonly (readonly [string, () => Servable | Promise<Servable>, RegExp])[] = [
    ["throws", () => {
      throw new Error("password hunter2 refused by the database");
    }, /hunter2/],
    ["rejects", () => Promise.reject(new Error("hunter2")), /hunter2/],
    ["gives nothing", () => undefined as unknown as Servable, /expected a server, such as an McpServer/],
    ["gives something else", () => ({ methods: "none" }) as unknown as Servable, /expected a server/],
  ];
  for (const [name, give, logged] of wrong) {
    test(`${name}: the caller is told that there is none, the operator why`, async () => {
      const open = stage(give);
      const answers = [await modern(open, ada, "tools/list"), (await openSession(open, ada)).first];
      for (const { status, error } of answers) {
        assertEquals(status, 500);
        assertEquals(error, { code: -32603, message: "The server of this caller could not be opened" });
      }
      assertEquals(open.logs.map(({ message, fields }) => [message, fields?.principal]), [
        ["There is no server for a caller", "ada"],
        ["There is no server for a caller", "ada"],
      ]);
      for (const { fields } of open.logs) assert(logged.test(String(fields?.error)));
      assertEquals((await openSession(open, ada)).id, null);
      open.handler.close();
      assertEquals(open.clock.waiting, 0);
    });
  }

  test("refuses a caller in its own words", async () => {
    const open = stage(() => {
      throw new InvalidRequestError("Ask Grace for a seat", { rpcCode: -32600 });
    });
    for (const answer of [await modern(open, ada, "tools/list"), (await openSession(open, ada)).first]) {
      assertEquals(answer.error, { code: -32600, message: "Ask Grace for a seat" });
    }
    assertEquals(open.logs, []);
  });

  test("demands scopes, and the caller is told which", async () => {
    const resource = protectResource({
      resource: "http://localhost:3000/mcp",
      authorizationServers: ["https://auth.example.com"],
      scopesSupported: ["team"],
      verify: () => ({ subject: "ada", audience: "http://localhost:3000/mcp" }),
    });
    const servers = perCaller(({ auth }) => {
      resource.demand(auth, "team");
      return serverOf("ada");
    });
    const handler = createHandler(servers, { auth: resource });
    const response = await handler(modernPost("tools/list", {}, { authorization: "Bearer t0ken" }));
    assertEquals(response.status, 403);
    assertStringIncludes(response.headers.get("www-authenticate") ?? "", 'scope="team"');
  });

  test("is asked after the caller was verified, and not of who was sent away", async () => {
    const open = stage(() => serverOf("ada"), { auth: () => new Response(null, { status: 401 }) });
    assertEquals((await open.handler(modernPost("tools/list"))).status, 401);
    assertEquals(open.asked, []);
  });

  test("may take its time: who leaves meanwhile is let go", async () => {
    const given = gate<Servable>();
    const open = stage(() => given.promise);
    const leave = new AbortController();
    const answered = open.handler(modernPost("tools/list", {}, ada, { signal: leave.signal }));
    await new Promise((resolve) => setTimeout(resolve, 0));
    leave.abort();
    assertEquals((await answered).status, 499);
    let run = 0;
    const server = new ToolServer({ name: "late", version: "1.0.0" });
    server.tool("count", {}, () => `${++run}`);
    given.open(server);
    await new Promise((resolve) => setTimeout(resolve, 0));
    assertEquals(run, 0);
    assertEquals(open.clock.waiting, 0);
  });

  test("has to be one", () => {
    const none = serverOf("ada") as unknown as () => Servable;
    assertThrows(() => perCaller(none), TypeError, "expected a function");
    const bare = (() => serverOf("ada")) as unknown as Servable;
    assertThrows(() => createHandler(bare), TypeError, "Cannot serve function: expected a server, or perCaller(…)");
  });
});

describe("what a caller is given", () => {
  test("is never for others to keep, whatever the server says", async () => {
    const cache = { ttlMs: 60_000, cacheScope: "public" as const };
    const open = stage(() => {
      const server = new McpServer({ name: "public", version: "1.0.0" }, { cache });
      server.tool("one", {}, () => "");
      server.prompt("one", {}, () => "");
      return server;
    });
    for (const method of ["server/discover", "tools/list", "prompts/list"]) {
      const { result } = await modern(open, ada, method);
      assertEquals([result?.ttlMs, result?.cacheScope], [60_000, "private"]);
    }
  });

  test("is held against the headers that its own tools mirror", async () => {
    const input = { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } };
    const mirroring = new McpServer({ name: "mirroring", version: "1.0.0" });
    mirroring.tool("run", { input }, ({ region }) => String(region));
    const plain = new McpServer({ name: "plain", version: "1.0.0" });
    plain.tool("run", { input: { type: "object" } }, ({ region }) => String(region));
    const { handler } = stage(({ auth }) => auth?.principal === "ada" ? mirroring : plain);
    const params = { name: "run", arguments: { region: "north" } };
    const status = async (who: Record<string, string>) => (await handler(modernPost("tools/call", params, who))).status;
    assertEquals(await status({ ...ada, "mcp-param-region": "north" }), 200);
    assertEquals(await status({ ...ada, "mcp-param-region": "south" }), 400);
    assertEquals(await status(ada), 400);
    assertEquals(await status(ben), 200);
    const { error } = await (await handler(modernPost("tools/call", params, ada))).json();
    assertEquals(error, { code: -32020, message: 'The header "mcp-param-region" is missing' });
  });

  test("is refused before headers are, where the envelope is wrong", async () => {
    const open = stage(() => serverOf("ada"));
    const who = { ...ada, "mcp-protocol-version": "2030-01-01", "mcp-method": "other" };
    const { error, status } = await modern(open, who, "tools/list", { _meta: modernMeta("2030-01-01") });
    assertEquals([status, error?.code], [400, -32022]);
  });

  test("comes from a handler without sessions too", async () => {
    const handler = createModernHandler(perCaller(({ auth }) => serverOf(auth?.principal ?? "nobody")), {
      auth: authOf,
    });
    assertEquals((await modern({ handler }, ben, "server/discover")).result?.instructions, "canary-ben");
  });
});
