/** What servers of the older era ask and tell on their own account: it goes to the one session in front. */
import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { ChannelTransport, connect, createMemoryPair } from "../../../../mod.ts";
import type { Root } from "../../../../mod.ts";
import type { GatewayHub } from "../../../../src/hub/gateway/mod.ts";
import type { Hub } from "../../../../src/hub/hub.ts";
import { HubLayer } from "../../../../src/hub/layer.ts";
import { createHandler } from "../../../../src/server/mod.ts";
import { until } from "../../../support/clients.ts";
import { open } from "../support.ts";

interface Answer {
  readonly result?: { readonly roots?: readonly Root[] };
  readonly error?: { readonly code: number };
}

const replies: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: "2025-06-18",
    capabilities: { tools: {}, logging: {} },
    serverInfo: { name: "by hand", version: "1" },
  },
  "tools/list": { tools: [{ name: "echo", inputSchema: { type: "object" } }] },
  "tools/call": { content: [{ type: "text", text: "echo" }] },
  "logging/setLevel": {},
  ping: {},
};

/** A server that asks for roots, and logs, when a test says so; behind each result of a call it logs a word. */
function createServer() {
  const heard: string[] = [];
  const waiting = new Map<string, (answer: Answer) => void>();
  let write = (_: object): void => {};
  const log = (level: string, data: string): void =>
    write({ method: "notifications/message", params: { level, data } });
  const take = ({ id, method, ...answer }: Answer & { id?: string; method?: string }): void => {
    if (method === undefined) return waiting.get(id ?? "")?.(answer);
    heard.push(method);
    if (id === undefined) return;
    const result = replies[method];
    write(result ? { id, result } : { id, error: { code: -32601, message: "unknown" } });
    if (method === "tools/call") log("warning", "late");
  };
  const transport = () =>
    new ChannelTransport(() => {
      const [near, far] = createMemoryPair();
      write = (message) => void far.write([JSON.stringify({ jsonrpc: "2.0", ...message })]);
      void far.open({ text: (text) => take(JSON.parse(text)), end() {} });
      return near;
    });
  const ask = (): Promise<Answer> =>
    new Promise((resolve) => {
      const id = `ask ${waiting.size}`;
      waiting.set(id, resolve);
      write({ id, method: "roots/list" });
    });
  return { config: { transport }, heard, log, ask };
}

/** A hub whose servers nobody sees. */
class Hiding extends HubLayer {
  override status(): ReturnType<Hub["status"]> {
    return [];
  }
}

const rest = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 40));
/** Waits for what has to come, and then for what must not come behind it. */
const comes = async (isThere: () => boolean): Promise<void> => (await until(isThere), await rest());
const changed = "notifications/roots/list_changed";
const home = { uri: "file:///home" };

describe("roots that a server asks for on its own account", () => {
  test("are those of the one session in front; it is told to ask again when there is one, and when they change", async () => {
    const server = createServer();
    await using scene = await open({ server: server.config });
    assertEquals((await server.ask()).error?.code, -32601, "nobody is there yet");
    let roots: readonly Root[] = [home];
    const client = await scene.join("legacy", { handlers: { roots: () => [...roots] } });
    const told = (): number => server.heard.filter((method) => method === changed).length;
    await comes(() => told() > 0);
    assertEquals(told(), 1);
    assertEquals((await server.ask()).result?.roots, [home]);
    roots = [];
    await client.rootsChanged();
    await comes(() => told() > 1);
    assertEquals(told(), 2);
    assertEquals((await server.ask()).result?.roots, []);
    await client.close();
    await rest();
    assertEquals((await server.ask()).error?.code, -32601, "it is gone");
  });

  test("are nobody's where several are in front, or the one has none", async () => {
    const server = createServer();
    await using scene = await open({ server: server.config });
    await scene.join("legacy");
    assertEquals((await server.ask()).error?.code, -32601, "it declared none");
    await scene.join("legacy", { handlers: { roots: [home] } });
    assertEquals((await server.ask()).error?.code, -32601, "there are two");
    assertEquals(server.heard.filter((method) => method === changed).length, 0);
  });
});

describe("roots of a caller", () => {
  test("are not for servers that it may not know of", async () => {
    const server = createServer();
    const around = (hub: Hub): GatewayHub => Object.assign(new Hiding(hub), { client: hub.client.bind(hub) });
    await using scene = await open({ server: server.config }, {}, { around });
    await scene.join("legacy", { handlers: { roots: [home] } });
    assertEquals((await server.ask()).error?.code, -32601);
  });
});

describe("log messages that come with no call", () => {
  test("go to the one session in front, as loud as it wants them, also just behind a result", async () => {
    const [server, other] = [createServer(), createServer()];
    await using scene = await open({ server: server.config, other: other.config });
    const logged: unknown[] = [];
    const client = await scene.join("legacy", {
      handlers: { log: ({ level, data, logger }) => logged.push([level, data, logger]) },
    });
    await client.setLogLevel("info");
    await client.callTool("server__echo");
    await comes(() => logged.length > 0);
    assertEquals(logged, [["warning", "late", "server"]]);
    server.log("error", "on its own");
    server.log("debug", "too quiet");
    other.log("error", "of a server that it never called");
    await comes(() => logged.length > 1);
    assertEquals(logged.slice(1), [["error", "on its own", "server"]]);
    await scene.join("legacy");
    server.log("error", "nobody knows whose");
    await rest();
    assertEquals(logged.length, 2);
  });
});

describe("a session over HTTP, with a stream of its own", () => {
  test("is asked for roots, and told what comes on the server's stream behind a result", async () => {
    const server = createServer();
    const requests: string[] = [];
    await using scene = await open({ server: server.config });
    const handler = createHandler(scene.gateway, { eras: ["legacy"] });
    const logged: unknown[] = [];
    const client = await connect("http://localhost/mcp", {
      fetch: (url, init) => {
        requests.push(init.method ?? "");
        return handler(new Request(url, init));
      },
      handlers: { roots: [home], log: ({ data }) => void logged.push(data) },
    });
    const stop = new AbortController();
    const changes = client.listen({ tools: true }, { signal: stop.signal });
    await changes.acknowledged;
    await until(() => requests.includes("GET"));
    assertEquals((await server.ask()).result?.roots, [home]);
    await client.callTool("server__echo");
    await comes(() => logged.length > 0);
    server.log("error", "on its own");
    await comes(() => logged.length > 1);
    assertEquals(logged, ["late", "on its own"]);
    stop.abort();
    await client.close();
    await handler.close();
  });
});
