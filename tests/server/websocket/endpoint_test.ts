/** The server's end of a WebSocket, on sockets that are joined in memory. */
import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { ChannelTransport, connect, createWebSocketChannel } from "../../../mod.ts";
import type { Client, WebSocketEvent, WebSocketLike } from "../../../mod.ts";
import { InvalidRequestError } from "../../../src/protocol/errors.ts";
import {
  createSocketChannel,
  createSocketEndpoint,
  McpServer,
  perCaller,
  protectResource,
} from "../../../src/server/mod.ts";
import type { Servable, SocketEndpoint, SocketEndpointOptions } from "../../../src/server/mod.ts";
import { countedMethods } from "../../../src/server/channel_parts.ts";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import { turns, until } from "../../support/clients.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { modernMeta } from "../http/support.ts";

/** One end of a socket; what is sent arrives at the other end in a later tick. */
class JoinedSocket implements WebSocketLike {
  readyState = 1;
  readonly protocol = "mcp";
  bufferedAmount = 0;
  other: JoinedSocket | undefined;
  closed: [code: number | undefined, reason: string | undefined] | undefined;
  readonly sent: string[] = [];
  readonly #listeners: [string, (event: WebSocketEvent) => void][] = [];

  send(text: string): void {
    this.sent.push(text);
    setTimeout(() => this.other?.tell("message", { data: text }), 0);
  }

  close(code?: number, reason?: string): void {
    if (this.readyState > 1) return;
    this.readyState = 3;
    this.closed = [code, reason];
    setTimeout(() => this.other?.goodbye(code), 0);
  }

  goodbye(code?: number): void {
    this.readyState = 3;
    this.tell("close", { code: code ?? 1005 });
  }

  addEventListener(type: string, listener: (event: WebSocketEvent) => void): void {
    this.#listeners.push([type, listener]);
  }

  tell(type: string, event: WebSocketEvent): void {
    for (const [wanted, listener] of this.#listeners) if (wanted === type) listener(event);
  }
}

function joinedSockets(): [near: JoinedSocket, far: JoinedSocket] {
  const [near, far] = [new JoinedSocket(), new JoinedSocket()];
  near.other = far;
  far.other = near;
  return [near, far];
}

function createServer(): McpServer {
  const server = new McpServer({ name: "socketed", version: "1.0.0" });
  server.tool("who", {}, (_args, { auth }) => auth?.principal ?? "nobody");
  server.tool("big", {}, () => "x".repeat(2_000_000));
  server.tool("ask", {}, async (_args, { roots }) => (await roots()).map(({ uri }) => uri).join());
  return server;
}

function handshake(headers: Record<string, string> = {}): Request {
  const all = { upgrade: "websocket", connection: "upgrade", "sec-websocket-protocol": "mcp", ...headers };
  return new Request("http://localhost/mcp", { headers: all });
}

async function refusal(endpoint: SocketEndpoint, request: Request): Promise<number> {
  const admitted = await endpoint.admit(request);
  assert(admitted instanceof Response, "the request was let in");
  assertEquals((await admitted.json()).jsonrpc, "2.0");
  return admitted.status;
}

async function accept(endpoint: SocketEndpoint, headers?: Record<string, string>): Promise<JoinedSocket> {
  const admitted = await endpoint.admit(handshake(headers));
  assert(!(admitted instanceof Response), "the request was refused");
  const [near, far] = joinedSockets();
  admitted(far);
  return near;
}

async function withClient(
  options: SocketEndpointOptions,
  run: (client: Client, near: JoinedSocket, endpoint: SocketEndpoint, server: McpServer) => Promise<void>,
): Promise<void> {
  const server = createServer();
  const endpoint = createSocketEndpoint(server, options);
  const near = await accept(endpoint);
  const channel = createWebSocketChannel("ws://localhost/mcp", { openWebSocket: () => Promise.resolve(near) });
  await using client = await connect(new ChannelTransport(() => channel), {
    handlers: { roots: () => [{ uri: "file:///here" }] },
  });
  await run(client, near, endpoint, server);
}

function text({ content }: Awaited<ReturnType<Client["callTool"]>>): string {
  const [first] = content;
  return first?.type === "text" ? first.text : "";
}

for (const era of ["modern", "legacy"] as const) {
  describe(`a server on a WebSocket, ${era}`, () => {
    test("is found by our client: tools, questions, changes", () =>
      withClient({ eras: [era], auth: () => ({ principal: "Ada" }) }, async (client, _near, _endpoint, server) => {
        assertEquals(client.era, era);
        assertEquals(text(await client.callTool("who")), "Ada");
        assertEquals(text(await client.callTool("ask")), "file:///here");
        await using changes = client.listen({ tools: true });
        await changes.acknowledged;
        server.tool("late", {}, () => "here");
        assertEquals((await changes.next()).value, { type: "tools" });
      }));

    test("closing the endpoint ends the sockets, and lets nobody in after that", () =>
      withClient({ eras: [era] }, async (client, near, endpoint) => {
        await client.listTools();
        await endpoint.close();
        await until(() => near.readyState === 3);
        assertEquals(await refusal(endpoint, handshake()), 503);
      }));
  });
}

describe("the door for WebSockets", () => {
  const endpoint = createSocketEndpoint(createServer(), { path: "/mcp" });

  test("foreign pages and names are sent away before anything else", async () => {
    assertEquals(await refusal(endpoint, handshake({ origin: "https://evil.example" })), 403);
    const foreign = new Request("http://evil.example/mcp", { headers: handshake().headers });
    assertEquals(await refusal(endpoint, foreign), 403);
    const allowed = createSocketEndpoint(createServer(), {
      allowedHosts: ["evil.example"],
      allowedOrigins: ["https://evil.example"],
    });
    assert(!(await allowed.admit(foreign) instanceof Response));
  });

  test("what is no handshake for mcp is told so", async () => {
    assertEquals(await refusal(endpoint, new Request("http://localhost/mcp")), 426);
    assertEquals(await refusal(endpoint, handshake({ "sec-websocket-protocol": "graphql-ws" })), 400);
    assertEquals(await refusal(endpoint, new Request("http://localhost/other", handshake())), 404);
    assert(!(await endpoint.admit(handshake({ "sec-websocket-protocol": "other, mcp" })) instanceof Response));
  });

  test("who may not is sent away by auth; an auth that throws tells nothing", async () => {
    const auth = () => Response.json({ jsonrpc: "2.0" }, { status: 401 });
    assertEquals(await refusal(createSocketEndpoint(createServer(), { auth }), handshake()), 401);
    const broken = createSocketEndpoint(createServer(), {
      auth: () => {
        throw new Error("secret");
      },
    });
    const admitted = await broken.admit(handshake());
    assert(admitted instanceof Response);
    assertEquals([admitted.status, (await admitted.text()).includes("secret")], [500, false]);
  });

  test("an auth that throws is answered also where the logger throws", async () => {
    const failing = () => {
      throw new Error("secret");
    };
    const endpoint = createSocketEndpoint(createServer(), { auth: failing, logger: failing });
    assertEquals(await refusal(endpoint, handshake()), 500);
  });

  test("a bound that is no number is refused: it would be none", () => {
    const made = (maxSockets: unknown) => createSocketEndpoint(createServer(), { maxSockets } as SocketEndpointOptions);
    for (const wrong of [NaN, -1, "many"]) assertThrows(() => made(wrong), RangeError, `"maxSockets" is ${wrong}`);
    // As a variable holds one, and none.
    for (const fine of ["10", null, Infinity]) made(fine);
  });

  test("there is room for so many", async () => {
    const small = createSocketEndpoint(createServer(), { maxSockets: 1 });
    const near = await accept(small);
    assertEquals(await refusal(small, handshake()), 503);
    near.close(1000);
    await turns();
    await accept(small);
  });

  test("there is room for so many, also when they come at once", async () => {
    const slowly = createSocketEndpoint(createServer(), { maxSockets: 1, auth: () => Promise.resolve(undefined) });
    // Both are let in before either socket is there.
    const admitted = await Promise.all([slowly.admit(handshake()), slowly.admit(handshake())]);
    const near = admitted.map((accept) => {
      const [near, far] = joinedSockets();
      assert(typeof accept === "function");
      accept(far);
      return near;
    });
    await turns();
    assertEquals(near.map(({ readyState }) => readyState), [1, 3]);
    assertEquals(await refusal(slowly, handshake()), 503);
  });

  test("one that was full, or closed, while auth was at it lets nobody in", async () => {
    let admit: () => void = () => {};
    const waiting = new Promise<undefined>((resolve) => admit = () => resolve(undefined));
    const endpoint = createSocketEndpoint(createServer(), { auth: () => waiting });
    const admitted = endpoint.admit(handshake());
    await endpoint.close();
    admit();
    const response = await admitted;
    assertEquals(response instanceof Response && response.status, 503);
  });

  test("each caller's socket has a server of theirs; without one it is refused", async () => {
    const logs: unknown[] = [];
    const servers = perCaller(({ auth, request }) => {
      if (auth?.principal === "mallory") throw new Error("there is none");
      const server = new McpServer({ name: `of-${auth?.principal}`, version: "1.0.0" });
      server.tool("whose", {}, () => `${auth?.principal}'s at ${new URL(request.url).pathname}`);
      return server;
    });
    const auth = ({ headers }: Request) => ({ principal: headers.get("x-user") ?? "nobody" });
    const endpoint = createSocketEndpoint(servers, { auth, logger: (record) => void logs.push(record.message) });
    for (const user of ["ada", "ben"]) {
      const near = await accept(endpoint, { "x-user": user });
      const channel = createWebSocketChannel("ws://localhost/mcp", { openWebSocket: () => Promise.resolve(near) });
      await using client = await connect(new ChannelTransport(() => channel));
      assertEquals(text(await client.callTool("whose")), `${user}'s at /mcp`);
    }
    assertEquals(await refusal(endpoint, handshake({ "x-user": "mallory" })), 500);
    assertEquals(logs, ["A WebSocket could not be judged"]);
    await endpoint.close();
  });

  test("who gives the servers refuses in their own words, over a socket as over HTTP", async () => {
    const logs: unknown[] = [];
    const resource = protectResource({
      resource: "http://localhost/mcp",
      authorizationServers: ["https://auth.example.com"],
      verify: () => ({ subject: "ada", audience: "http://localhost/mcp" }),
    });
    const servers = perCaller(({ auth, request }) => {
      if (request.headers.has("x-seat")) throw new InvalidRequestError("Ask Grace for a seat", { rpcCode: -32600 });
      resource.demand(auth, "team");
      return createServer();
    });
    const logger = (record: { readonly message: string }): void => void logs.push(record.message);
    const endpoint = createSocketEndpoint(servers, { auth: resource, logger });
    const ask = async (more: Record<string, string>) => {
      const response = await endpoint.admit(handshake({ authorization: "Bearer t0ken", ...more }));
      assert(response instanceof Response);
      const { error } = await response.json();
      return [response.status, error.code, error.message, response.headers.get("www-authenticate")];
    };
    assertEquals(await ask({ "x-seat": "1" }), [400, -32600, "Ask Grace for a seat", null]);
    const [status, code, message, challenge] = await ask({});
    assertEquals([status, code, message], [403, -32600, "More scope is needed: team"]);
    assertStringIncludes(challenge, 'scope="team"');
    assertEquals(logs, []);
  });

  test("what a caller is given over a socket is never for others to keep", async () => {
    const cache = { ttlMs: 60_000, cacheScope: "public" as const };
    const servers = perCaller(() => {
      const server = new McpServer({ name: "public", version: "1.0.0" }, { cache });
      server.tool("one", {}, () => "");
      server.prompt("one", {}, () => "");
      const { methods } = server;
      const saying: Servable["methods"] = {
        ...countedMethods(methods, () => {}),
        // What a gateway passes on.
        run(method, params, context) {
          const result = methods.run(method, params, context) as JsonObject;
          const said = { ...result, cacheScope: "public" };
          return method === "prompts/list" ? Promise.resolve(said) : said;
        },
      };
      return { methods: saying };
    });
    const endpoint = createSocketEndpoint(servers);
    const near = await accept(endpoint);
    for (const method of ["server/discover", "tools/list", "prompts/list"]) {
      const params = { _meta: modernMeta() };
      const answer = new Promise<string>((resolve) =>
        near.addEventListener("message", ({ data }) => resolve(String(data)))
      );
      near.send(JSON.stringify({ jsonrpc: "2.0", id: method, method, params }));
      const { result } = JSON.parse(await answer);
      assertEquals([method, result.ttlMs, result.cacheScope], [method, 60_000, "private"]);
    }
    await endpoint.close();
  });

  test("a socket ends when the proof of its client does", async () => {
    const clock = new VirtualClock();
    const expiresAt = clock.now() + 5_000;
    const timed = createSocketEndpoint(createServer(), { clock, auth: () => ({ principal: "Ada", expiresAt }) });
    const near = await accept(timed);
    await clock.advance(4_999);
    await turns();
    assertEquals(near.readyState, 1);
    await clock.advance(1);
    await until(() => near.readyState === 3);
  });
});

describe("frames", () => {
  test("too long ones end the socket with 1009, before they are parsed; binary ones with 1003", async () => {
    const endpoint = createSocketEndpoint(createServer(), { limits: { messageBytes: 100 } });
    for (const [frame, code] of [["[".repeat(101), 1009], [new ArrayBuffer(4), 1003]] as const) {
      const near = await accept(endpoint);
      const far = near.other as JoinedSocket;
      far.tell("message", { data: frame });
      await turns();
      assertEquals([far.closed?.[0], near.sent.length], [code, 0]);
    }
  });

  test("what is no JSON is answered, and the socket goes on", async () => {
    const near = await accept(createSocketEndpoint(createServer()));
    const far = near.other as JoinedSocket;
    far.tell("message", { data: "{" });
    far.tell("message", { data: '{"jsonrpc":"2.0","id":1,"method":"ping"}' });
    await until(() => far.sent.length === 2);
    assertEquals(far.sent.map((sent) => JSON.parse(sent).error?.code).includes(-32700), true);
    assertEquals(near.readyState, 1);
  });

  test("a client that is gone without a word, or breaks, ends it once", async () => {
    for (const type of ["close", "error"]) {
      const [, far] = joinedSockets();
      const ends: unknown[] = [];
      const channel = createSocketChannel(far);
      await channel.open({ text: () => {}, end: (reason) => void ends.push(reason?.code) });
      far.tell(type, {});
      far.tell("close", {});
      assertEquals(ends, [type === "close" ? undefined : "connection_closed"]);
      assertEquals(far.readyState, 3);
      await assertRejects(async () => await channel.write(["{}"]), Error, "not open");
    }
  });
});
