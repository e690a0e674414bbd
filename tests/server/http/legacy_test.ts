import { describe, test } from "node:test";
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import type { Answer, Incoming } from "../../../src/server/seam.ts";
import { EventReader, gate, initialize, post, refusal, result, rpc, send, world } from "./support.ts";

const note = (text: string) => ({ jsonrpc: "2.0" as const, method: "notifications/message", params: { data: text } });

describe("a legacy session", () => {
  test("begins with initialize, whose reply names it (S-044)", async () => {
    const all = world();
    const response = await all.handler(post(rpc("initialize", "init")));
    const id = response.headers.get("mcp-session-id")!;
    assertMatch(id, /^[\x21-\x7e]{32,}$/);
    assertEquals((await response.json() as { id: string }).id, "init");
    const other = await initialize(all);
    assert(other["mcp-session-id"] !== id);
    assertEquals(all.sessions.length, 2);
  });

  test("is needed by all that follows (S-045)", async () => {
    const { handler } = world();
    for (const body of [rpc("tools/list"), { jsonrpc: "2.0", method: "notifications/initialized" }, [rpc("ping")]]) {
      assertEquals(await refusal(await handler(post(body))), [400, -32600]);
      assertEquals(await refusal(await handler(post(body, { "mcp-session-id": "unknown" }))), [404, -32600]);
    }
    for (const method of ["GET", "DELETE"]) {
      assertEquals(await refusal(await handler(send(method))), [400, -32600]);
      assertEquals(await refusal(await handler(send(method, { "mcp-session-id": "unknown" }))), [404, -32600]);
    }
  });

  test("whose handshake is refused is none", async () => {
    const all = world();
    const response = await all.handler(post(rpc("initialize", 1, { refuse: true })));
    assertEquals([response.status, response.headers.get("mcp-session-id")], [200, null]);
    assertEquals(all.sessions[0]?.closed, true);
  });

  test("takes notifications and answers without a body", async () => {
    const all = world();
    const session = await initialize(all);
    for (
      const body of [{ jsonrpc: "2.0", method: "notifications/initialized" }, { jsonrpc: "2.0", id: 9, result: {} }]
    ) {
      const response = await all.handler(post(body, session));
      assertEquals([response.status, await response.text()], [202, ""]);
      assertEquals(all.sessions[0]?.seen.at(-1), body as never);
    }
  });

  test("a wrong MCP-Protocol-Version is 400, a missing one is nothing to stumble over (S-046)", async () => {
    const all = world();
    const session = await initialize(all);
    const status = async (revision: string | undefined, method = "POST") => {
      const headers = { ...session, "mcp-protocol-version": revision };
      const request = method === "POST" ? post(rpc("tools/list"), headers) : send(method, headers);
      const response = await all.handler(request);
      await response.body?.cancel();
      return response.status;
    };
    for (const revision of [undefined, "2025-03-26", "2025-06-18", "2025-11-25"]) {
      assertEquals(await status(revision), 200);
    }
    for (const revision of ["1999-01-01", "latest", ""]) {
      assertEquals(await status(revision), 400);
      assertEquals(await status(revision, "GET"), 400);
      assertEquals(await status(revision, "DELETE"), 400);
    }
  });

  test("ends with DELETE, and is not known any more (S-045)", async () => {
    const all = world();
    const session = await initialize(all);
    const stream = new EventReader(await all.handler(send("GET", session)));
    const running = gate<Answer | undefined>();
    assertEquals((await all.handler(send("DELETE", session))).status, 200);
    assertEquals(all.sessions[0]?.closed, true);
    await stream.rest();
    assertEquals(await refusal(await all.handler(post(rpc("tools/list"), session))), [404, -32600]);
    assertEquals((await all.handler(send("DELETE", session))).status, 404);
    running.open(undefined);
  });

  test("that ends calls its work off", async () => {
    let incoming: Incoming | undefined;
    const all = world({
      legacy: (given) => {
        incoming = given;
        return new Promise(() => {});
      },
    });
    const session = await initialize(all);
    const replying = all.handler(post(rpc("tools/call", 2), session));
    await all.clock.settle();
    await all.handler(send("DELETE", session));
    const response = await replying;
    assertEquals([response.status, await response.text(), incoming?.signal.aborted], [200, "", true]);
  });

  test("arrays are for 2025-03-26 alone (S-017)", async () => {
    const newer = world();
    assertEquals(await refusal(await newer.handler(post([rpc("ping")], await initialize(newer)))), [400, -32600]);
    const older = world({ revision: "2025-03-26" });
    const session = await initialize(older);
    const batch = [
      rpc("a", 1),
      { jsonrpc: "2.0", method: "notifications/x" },
      7,
      rpc("b", 2),
      rpc("initialize", 3),
      rpc("c", 2),
    ];
    const answers = await (await older.handler(post(batch, session))).json() as { id: unknown; error?: unknown }[];
    assertEquals(answers.map(({ id, error }) => [id, !error]), [[null, false], [3, false], [2, false], [1, true], [
      2,
      true,
    ]]);
    const quiet = [{ jsonrpc: "2.0", method: "notifications/x" }, { jsonrpc: "2.0", id: 1, result: {} }];
    assertEquals((await older.handler(post(quiet, session))).status, 202);
    assertEquals((await older.handler(post([], session))).status, 400);
    assertEquals((await older.handler(post([rpc("initialize")]))).status, 400);
  });

  test("an id that is running already is refused: its answer would have two places", async () => {
    const answer = gate<Answer | undefined>();
    const all = world({ legacy: () => answer.promise });
    const session = await initialize(all);
    const first = all.handler(post(rpc("slow", 5), session));
    await all.clock.settle();
    assertEquals(await refusal(await all.handler(post(rpc("slow", 5), session))), [400, -32600]);
    answer.open({ response: { jsonrpc: "2.0", id: 5, result: { ok: true } }, status: 200 });
    assertEquals(await (await first).json(), { jsonrpc: "2.0", id: 5, result: { ok: true } });
  });

  test("an answer that is no JSON becomes an error, and holds nobody up", async () => {
    const circle: JsonObject = {};
    circle.self = circle;
    const all = world({ legacy: (incoming) => result(incoming, circle) });
    const response = await all.handler(post(rpc("x", 1), await initialize(all)));
    assertEquals(await response.json(), { jsonrpc: "2.0", id: 1, error: { code: -32603, message: "Internal error" } });
    assertEquals([response.status, all.logs.length], [500, 1]);
  });

  test("an era that breaks says nothing about itself", async () => {
    const all = world({
      legacy: () => {
        throw new Error("secret");
      },
    });
    const response = await all.handler(post(rpc("x", 3), await initialize(all)));
    assertEquals(await response.json(), { jsonrpc: "2.0", id: 3, error: { code: -32603, message: "Internal error" } });
    assertEquals(all.logs.length, 1);
  });
});

describe("how many legacy sessions there are", () => {
  test("those that nobody uses end, those in use stay", async () => {
    const all = world({ sessions: { idle: 60_000 } });
    const idle = await initialize(all);
    const used = await initialize(all);
    const streaming = await initialize(all);
    const telling = await initialize(all);
    const stream = new EventReader(await all.handler(send("GET", streaming)));
    for (let turn = 0; turn < 4; turn++) {
      await all.clock.advance(30_000);
      await all.handler(post(rpc("ping"), used));
      await all.handler(post({ jsonrpc: "2.0", method: "notifications/roots/list_changed" }, telling));
    }
    assertEquals(all.sessions.map(({ closed }) => closed), [true, false, false, false]);
    assertEquals((await all.handler(post(rpc("ping"), idle))).status, 404);
    await stream.cancel();
    await all.clock.advance(180_000);
    assertEquals(all.sessions.map(({ closed }) => closed), [true, true, true, true]);
    assertEquals(all.clock.waiting, 0);
  });

  test("a handshake within a session begins no other one", async () => {
    const all = world();
    const session = await initialize(all);
    const again = await all.handler(post(rpc("initialize"), session));
    assertEquals([again.headers.get("mcp-session-id"), all.sessions.length], [null, 1]);
  });

  test("when there are too many, the one that was used longest ago ends; when all are in use, there is no new one", async () => {
    const all = world({ sessions: { max: 2 }, legacy: () => new Promise(() => {}) });
    const first = await initialize(all);
    await all.clock.advance(10);
    await initialize(all);
    await all.clock.advance(10);
    all.handler(post(rpc("slow"), first));
    await all.clock.settle();
    const third = await initialize(all);
    assertEquals(all.sessions.map(({ closed }) => closed), [false, true, false]);
    all.handler(post(rpc("slow"), third));
    await all.clock.advance(10);
    const refused = await all.handler(post(rpc("initialize")));
    assertEquals(refused.headers.get("retry-after"), "60");
    assertEquals(await refusal(refused), [503, -32603]);
  });

  test("the one that was used last stays", async () => {
    const all = world({ sessions: { max: 2 } });
    const first = await initialize(all);
    await initialize(all);
    await all.clock.advance(10);
    await all.handler(post(rpc("ping"), first));
    await all.clock.advance(10);
    await initialize(all);
    assertEquals(all.sessions.map(({ closed }) => closed), [false, true, false]);
  });

  test("closing ends all", async () => {
    const all = world();
    const session = await initialize(all);
    const stream = new EventReader(await all.handler(send("GET", session)));
    all.handler.close();
    await stream.rest();
    assertEquals(all.sessions[0]?.closed, true);
    assertEquals(all.clock.waiting, 0);
    assertEquals((await all.handler(post(rpc("ping"), session))).status, 503);
  });

  test("closing while a handshake is on its way leaves no session behind", async () => {
    const all = world();
    const held = gate();
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await held.promise;
        controller.enqueue(new TextEncoder().encode(JSON.stringify(rpc("initialize"))));
        controller.close();
      },
    });
    const answer = all.handler(post("", {}, { body, duplex: "half" } as RequestInit));
    all.handler.close();
    held.open();
    assertEquals(await refusal(await answer), [503, -32603]);
    assertEquals([all.sessions.length, all.clock.waiting], [0, 0]);
  });
});

describe("the streams of a legacy session", () => {
  test("what belongs to a request goes on its stream, all else on the session's own, nothing on two (S-041)", async () => {
    const answers = new Map<unknown, (answer: Answer | undefined) => void>();
    const calls = new Map<unknown, Incoming>();
    const all = world({
      legacy: (incoming) => {
        calls.set(incoming.message.id, incoming);
        return new Promise((resolve) => answers.set(incoming.message.id, resolve));
      },
    });
    const session = await initialize(all);
    const own = new EventReader(await all.handler(send("GET", session)));
    const one = all.handler(post(rpc("tools/call", 1), session));
    const two = all.handler(post(rpc("tools/call", 2), session));
    await all.clock.settle();
    const { outlet } = all.sessions[0]!;
    outlet.send(rpc("elicitation/create", "s1"), calls.get(1));
    calls.get(2)!.notify(note("two"));
    outlet.send(note("own"), undefined);
    const first = new EventReader(await one);
    const second = new EventReader(await two);
    answers.get(1)!(result(calls.get(1)!));
    answers.get(2)!(result(calls.get(2)!));
    const texts = async (reader: EventReader) =>
      (await reader.rest()).filter(({ data }) => data).map(({ data }) => JSON.parse(data!));
    assertEquals(await texts(first), [rpc("elicitation/create", "s1"), { jsonrpc: "2.0", id: 1, result: {} }]);
    assertEquals(await texts(second), [note("two"), { jsonrpc: "2.0", id: 2, result: {} }]);
    outlet.send(rpc("ping", "s2"), calls.get(1));
    assertEquals(await own.message(), note("own"));
    assertEquals(await own.message(), rpc("ping", "s2"));
    await own.cancel();
  });

  test("what a request tells after its answer is dropped, also while others of its POST run", async () => {
    const calls = new Map<unknown, Incoming>();
    const slow = gate();
    const all = world({
      revision: "2025-03-26",
      legacy: async (incoming) => {
        calls.set(incoming.message.id, incoming);
        if (incoming.message.id === 2) await slow.promise;
        return result(incoming);
      },
    });
    const session = await initialize(all);
    const replying = all.handler(post([rpc("a", 1), rpc("b", 2)], session));
    await all.clock.settle();
    calls.get(1)!.notify(note("late"));
    calls.get(2)!.notify(note("in time"));
    slow.open();
    const events = await new EventReader(await replying).rest();
    assertEquals(events.map(({ data }) => JSON.parse(data!)), [
      { jsonrpc: "2.0", id: 1, result: {} },
      note("in time"),
      { jsonrpc: "2.0", id: 2, result: {} },
    ]);
  });

  test("a session has one stream of its own: a second is 409, after the first it is free", async () => {
    const all = world();
    const session = await initialize(all);
    assertEquals((await all.handler(send("GET", { ...session, accept: "application/json" }))).status, 406);
    const stream = new EventReader(await all.handler(send("GET", session)));
    assertEquals(await refusal(await all.handler(send("GET", session))), [409, -32600]);
    await stream.cancel();
    await all.clock.settle();
    const again = await all.handler(send("GET", session));
    assertEquals(again.status, 200);
    await again.body?.cancel();
  });

  test("what is sent while nobody listens waits for who comes", async () => {
    const all = world();
    const session = await initialize(all);
    all.sessions[0]!.outlet.send(note("early"), undefined);
    const stream = new EventReader(await all.handler(send("GET", session)));
    assertEquals(await stream.message(), note("early"));
    await stream.cancel();
    const again = new EventReader(await all.handler(send("GET", session)));
    all.sessions[0]!.outlet.send(note("next"), undefined);
    assertEquals(await again.message(), note("next"));
    await again.cancel();
  });

  for (const idle of [undefined, 0, -1, NaN]) {
    test(`an idle time that is none is the usual one: ${idle}`, async () => {
      const all = world({ sessions: { idle } });
      const session = await initialize(all);
      await all.clock.advance(1_800_000 - 1);
      assertEquals((await all.handler(send("DELETE", session))).status, 200);
      all.handler.close();
      assertEquals(all.clock.waiting, 0);
    });
  }

  test("comments keep them open", async () => {
    const all = world({ keepAlive: 1_000 });
    const stream = new EventReader(await all.handler(send("GET", await initialize(all))));
    await stream.next();
    await all.clock.advance(1_000);
    assertEquals((await stream.next())?.comment, "keep-alive");
    await stream.cancel();
  });
});
