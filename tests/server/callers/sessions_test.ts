/** Sessions and streams of changes stay with the server that they were opened with, and with who opened them. */
import { describe, test } from "node:test";
import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { CallersModern } from "../../../src/server/callers/modern.ts";
import type { Opened } from "../../../src/server/callers/opening.ts";
import { CallerSession } from "../../../src/server/callers/session.ts";
import { HeaderCheck } from "../../../src/server/http/header_check.ts";
import { createLegacySession } from "../../../src/server/legacy/mod.ts";
import { InvalidRequestError } from "../../../src/protocol/errors.ts";
import { createHandler, createSessionStore, createStateSealer, perCaller } from "../../../src/server/mod.ts";
import type { McpServer, Servable } from "../../../src/server/mod.ts";
import { createParts } from "../../../src/server/parts.ts";
import type { Incoming, LegacyOutlet, ServerChange } from "../../../src/server/seam.ts";
import { TestStore } from "../../support/test_store.ts";
import { EventReader, gate, modernPost, result, send } from "../http/support.ts";
import { authOf, openSession, serverOf, stage } from "./support.ts";

const ada = { "x-user": "ada", "x-client": "editor", "x-scopes": "read write" };

function whose(answer: { result?: unknown; status: number }): unknown {
  const { content } = answer.result as { content?: { text: string }[] } ?? {};
  return content?.[0]?.text ?? answer.status;
}

/** A server, and by how many those who watch it become more or fewer. */
function watchedServer(server: McpServer, count: (by: number) => void): Servable {
  const methods = new Proxy(server.methods, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== "function") return value;
      if (key !== "watch") return value.bind(target);
      return (listener: (change: ServerChange) => void) => {
        count(1);
        const stop = target.watch(listener);
        return () => (count(-1), stop());
      };
    },
  });
  return { methods };
}

describe("a session", () => {
  test("that ends leaves nobody watching, whoever keeps it", async () => {
    for (const store of [undefined, createSessionStore(new TestStore())]) {
      let watching = 0;
      const open = stage(() => watchedServer(serverOf("ada"), (by) => watching += by), { sessions: { store } });
      const session = await openSession(open, ada);
      assertEquals(watching, 1);
      const ended = await open.handler(send("DELETE", { ...ada, "mcp-session-id": session.id ?? "" }));
      assertEquals([ended.status, watching], [200, 0]);
      open.handler.close();
    }
  });

  test("keeps its server, and the function is not asked again", async () => {
    let made = 0;
    const open = stage(() => serverOf(`${++made}`));
    const first = await openSession(open, ada);
    const second = await openSession(open, ada);
    for (let call = 0; call < 3; call++) {
      assertEquals(whose(await first.ask("tools/call", { name: "whose" })), "canary-1");
      assertEquals(whose(await second.ask("tools/call", { name: "whose" })), "canary-2");
    }
    assertEquals(made, 2);
    open.handler.close();
    assertEquals(open.clock.waiting, 0);
  });

  test("is there for the same principal, client and scopes alone", async () => {
    const open = stage(({ auth }) => serverOf(auth?.scopes?.includes("write") ? "writer" : "reader"));
    const session = await openSession(open, ada);
    const call = (who: Record<string, string>) => session.ask("tools/call", { name: "whose" }, who);
    assertEquals(whose(await call({ ...ada, "x-scopes": "write read" })), "canary-writer");
    const others = [
      { ...ada, "x-user": "ben" },
      { ...ada, "x-scopes": "read" },
      { ...ada, "x-scopes": "read write admin" },
      { ...ada, "x-client": "other" },
      { "x-user": "ada" },
      {},
    ];
    for (const who of others) assertEquals((await call(who)).status, 404);
    const named = { ...ada, "x-scopes": "read", "mcp-session-id": session.id! };
    assertEquals((await open.handler(send("GET", named))).status, 404);
    assertEquals((await open.handler(send("DELETE", named))).status, 404);
    // Whose it is has it still; who may do less now gets a new one, with less in it.
    assertEquals(whose(await call(ada)), "canary-writer");
    const less = await openSession(open, { ...ada, "x-scopes": "read" });
    assertEquals(whose(await less.ask("tools/call", { name: "whose" })), "canary-reader");
  });

  test("counts with all others, whosever server it has", async () => {
    const open = stage(({ auth }) => serverOf(auth?.principal ?? "nobody"), { sessions: { max: 3 } });
    for (let at = 0; at < 3; at++) assertNotEquals((await openSession(open, { "x-user": `u${at}` })).id, null);
    assertEquals((await openSession(open, { "x-user": "u3" })).first.status, 503);
  });

  test("tells what changes at its own server", async () => {
    const servers = new Map(["ada", "ben"].map((name) => [name, serverOf(name)]));
    const open = stage(({ auth }) => servers.get(auth?.principal ?? "")!);
    const session = await openSession(open, { "x-user": "ada" });
    const stream = await open.handler(send("GET", { "x-user": "ada", "mcp-session-id": session.id! }));
    const reader = new EventReader(stream);
    servers.get("ben")!.tool("late-ben", {}, () => "");
    servers.get("ada")!.tool("late-ada", {}, () => "");
    assertEquals((await reader.message() as { method: string }).method, "notifications/tools/list_changed");
    open.handler.close();
    assertEquals((await reader.rest()).filter(({ data }) => data).length, 0);
  });

  test("whose server is made slowly, and not at last, is not there: its place is free", async () => {
    const waiting: ((error: Error) => void)[] = [];
    const refused = () => new Promise<Servable>((_, reject) => void waiting.push(reject));
    const open = stage(({ auth }) => auth?.principal === "ada" ? serverOf("ada") : refused(), {
      sessions: { max: 1 },
    });
    for (const error of [new Error("the database is down"), new InvalidRequestError("No seat", { rpcCode: -32600 })]) {
      const opening = openSession(open, { "x-user": "ben" });
      await new Promise((resolve) => setTimeout(resolve, 0));
      // Its reply is a stream by now, and its session was named.
      await open.clock.advance(20_000);
      waiting.pop()?.(error);
      const { id, ask } = await opening;
      assertNotEquals(id, null);
      assertEquals((await ask("tools/list", {}, { "x-user": "ben" })).status, 404);
      // Nothing of it is left.
      const session = await openSession(open, { "x-user": "ada" });
      assertEquals(session.first.status, 200);
      const named = { "x-user": "ada", "mcp-session-id": session.id! };
      assertEquals((await open.handler(send("DELETE", named))).status, 200);
    }
    open.handler.close();
    assertEquals(open.clock.waiting, 0);
  });

  test("that ends while its server is being made does not begin", async () => {
    const given = gate<Servable>();
    const open = stage(() => given.promise);
    const opening = openSession(open, ada);
    await new Promise((resolve) => setTimeout(resolve, 0));
    open.handler.close();
    given.open(serverOf("ada"));
    await opening.then(() => assert(false, "it has begun"), () => {});
    assertEquals(open.clock.waiting, 0);
  });
});

describe("a session whose handshake is played again", () => {
  test("begins with no server when it has ended before that was there", async () => {
    const server = serverOf("ada");
    const parts = createParts(server.methods, { state: () => createStateSealer() });
    const given = gate<void>();
    let begun = 0;
    const open = async (): Promise<Opened> => {
      await given.promise;
      const legacy = (outlet: LegacyOutlet) => (begun++, createLegacySession(parts, outlet));
      return { parts, legacy, modern: undefined, check: new HeaderCheck(parts.methods, parts.limits) };
    };
    const play = async (end: boolean) => {
      const session = new CallerSession(parts, open, { send: () => {} });
      const params = { protocolVersion: "2025-11-25", capabilities: {} };
      const message = { jsonrpc: "2.0" as const, id: 1, method: "initialize", params };
      const { signal } = new AbortController();
      const answered = session.answer({ message, signal, auth: undefined, notify: () => {} });
      if (end) session.close();
      given.open();
      return [await answered !== undefined, session.open];
    };
    assertEquals(await play(true), [false, false]);
    assertEquals(begun, 0);
    assertEquals(await play(false), [true, true]);
    assertEquals(begun, 1);
  });
});

describe("a session that is kept", () => {
  function processOf(store: TestStore, name: string, options: { fresh?: number } = {}) {
    const asked: string[] = [];
    const servers = perCaller(({ auth }) => {
      asked.push(`${auth?.principal} ${auth?.scopes}`);
      return serverOf(`${name}-${auth?.scopes?.includes("write") ? "writer" : "reader"}`);
    });
    const sessions = { store: createSessionStore(store, options) };
    return { handler: createHandler(servers, { auth: authOf, sessions }), asked };
  }

  test("is given the server that the next process has for this caller", async () => {
    const store = new TestStore();
    const [first, second] = [processOf(store, "one"), processOf(store, "two")];
    const session = await openSession(first, ada);
    const elsewhere = { ...session };
    assertEquals(whose(await elsewhere.ask("tools/call", { name: "whose" })), "canary-one-writer");
    const named = { "mcp-session-id": session.id! };
    const call = async (who: Record<string, string>) => {
      const body = { jsonrpc: "2.0", id: 9, method: "tools/call", params: { name: "whose" } };
      const response = await second.handler(
        send("POST", { "content-type": "application/json", ...who, ...named }, { body: JSON.stringify(body) }),
      );
      return response.ok ? (await response.json()).result.content[0].text : response.status;
    };
    assertEquals(await call({ ...ada, "x-user": "ben" }), 404);
    // Each process asks anew: who may do less by now gets less.
    assertEquals(await call({ ...ada, "x-scopes": "read" }), "canary-two-reader");
    assertEquals(second.asked, ["ada read"]);
    // It is at work there for who may read.
    assertEquals(await call(ada), 404);
    assertEquals(await call({ ...ada, "x-scopes": "read" }), "canary-two-reader");
    first.handler.close();
    second.handler.close();
  });
});

describe("a session that is kept elsewhere", () => {
  test("is there again when its server can be opened again", async () => {
    const store = new TestStore();
    const sessions = { store: createSessionStore(store) };
    const first = createHandler(perCaller(() => serverOf("one")), { auth: authOf, sessions });
    const session = await openSession({ handler: first }, ada);
    first.close();
    let wrong: Error | undefined = new Error("the database is down");
    const logs: unknown[] = [];
    const serve = (): Servable => {
      if (wrong) throw wrong;
      return serverOf("two");
    };
    const logger = ({ message }: { readonly message: string }): void => void logs.push(message);
    const second = createHandler(perCaller(serve), { auth: authOf, sessions, logger });
    const call = async () => {
      const body = { jsonrpc: "2.0", id: 9, method: "tools/call", params: { name: "whose" } };
      const headers = { "content-type": "application/json", ...ada, "mcp-session-id": session.id! };
      const response = await second(send("POST", headers, { body: JSON.stringify(body) }));
      return response.ok ? (await response.json()).result.content[0].text : response.status;
    };
    // Two at once wait for the same server.
    assertEquals(await Promise.all([call(), call()]), [503, 503]);
    assertEquals(logs.includes("There is no server for a caller"), true);
    // Who may not have one begins anew, and is told why then.
    wrong = new InvalidRequestError("No seat", { rpcCode: -32600 });
    assertEquals(await call(), 404);
    wrong = undefined;
    assertEquals(await call(), "canary-two");
    second.close();
  });
});

describe("a stream of changes", () => {
  test("that is asked for while the handler closes ends at once", async () => {
    const given = gate<Servable>();
    const open = stage(() => given.promise);
    const params = { notifications: { toolsListChanged: true } };
    const opening = open.handler(modernPost("subscriptions/listen", params, ada));
    await new Promise((resolve) => setTimeout(resolve, 0));
    open.handler.close();
    given.open(serverOf("ada"));
    const messages = (await new EventReader(await opening).rest()).flatMap(({ data }) =>
      data ? [JSON.parse(data)] : []
    );
    assertEquals(messages.at(-1)?.result.resultType, "complete");
    assertEquals(open.clock.waiting, 0);
  });

  test("is all that closing has to end: a server that answers nothing is not held", async () => {
    const parts = createParts(serverOf("ada").methods, { state: () => createStateSealer() });
    const closed: string[] = [];
    const waiting = gate<void>();
    const opened = (name: string) => ({
      parts,
      check: new HeaderCheck(parts.methods, parts.limits),
      legacy: undefined,
      modern: {
        answer: async (incoming: Incoming) => (await (name === "open" ? waiting.promise : undefined), result(incoming)),
        close: () => void closed.push(name),
      },
    });
    const callers = new CallersModern(parts, ({ auth }) => Promise.resolve(opened(auth?.principal ?? "")));
    const ask = (principal: string) =>
      callers.answer({
        message: { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} },
        signal: new AbortController().signal,
        auth: { principal },
        notify: () => {},
      });
    const running = ask("open");
    await ask("over");
    callers.close();
    assertEquals(closed, ["open"]);
    waiting.open();
    await running;
  });

  test("tells of its own server, ends with the handler, and leaves nobody watching", async () => {
    const servers = new Map<string, McpServer>();
    let watching = 0;
    const open = stage(({ auth }) => {
      const name = auth?.principal ?? "";
      const server = serverOf(name);
      servers.set(name, server);
      return watchedServer(server, (by) => watching += by);
    });
    const listen = async (who: string) => {
      const params = { notifications: { toolsListChanged: true } };
      return new EventReader(await open.handler(modernPost("subscriptions/listen", params, { "x-user": who })));
    };
    const readers = [await listen("ada"), await listen("ben")];
    for (const reader of readers) {
      assertEquals(
        (await reader.message() as { method: string }).method,
        "notifications/subscriptions/acknowledged",
      );
    }
    assertEquals(watching, 2);
    servers.get("ada")!.tool("late", {}, () => "");
    assertEquals((await readers[0]!.message() as { method: string }).method, "notifications/tools/list_changed");
    open.handler.close();
    for (const reader of readers) {
      const rest = (await reader.rest()).flatMap(({ data }) => data ? [JSON.parse(data)] : []);
      // Its result, and nothing of the other one's changes.
      assertEquals(rest.map(({ method, result }) => method ?? result.resultType), ["complete"]);
    }
    assertEquals(watching, 0);
  });
});
