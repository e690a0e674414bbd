/** Legacy sessions over a store: several processes, restarts, and a store in a bad mood. */
import { describe, test } from "node:test";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { createSessionStore } from "../../../src/server/mod.ts";
import { until } from "../../support/clients.ts";
import { TestStore } from "../../support/test_store.ts";
import { textOf, World } from "./support.ts";

const call = { name: "hi", arguments: {} };

describe("a session over a store", () => {
  test("is served by another process, with all that lasts of it", async () => {
    const world = new World();
    const first = world.serve();
    const headers = await world.open(first, "ada");
    await world.post(first, headers, "logging/setLevel", { level: "error" });
    for (const uri of ["note://1", "note://2"]) await world.post(first, headers, "resources/subscribe", { uri });
    await world.post(first, headers, "resources/unsubscribe", { uri: "note://1" });
    first.handler.close();
    const second = world.serve();
    const stream = await world.send(second, "GET", headers);
    assertEquals(stream.status, 200);
    const { events } = await world.post(second, headers, "tools/call", call);
    assertEquals([events.length, textOf(events[0]!)], [1, "hi ada ada"]);
    second.server.resourceUpdated("note://1");
    second.server.resourceUpdated("note://2");
    await world.clock.settle();
    second.handler.close();
    const told = await stream.text();
    assertEquals([told.includes("note://1"), told.includes("note://2")], [false, true]);
    assertEquals([...first.logs, ...second.logs], []);
  });

  test("belongs to its principal: to nobody else, with another name or with none", async () => {
    const world = new World();
    const headers = await world.open(world.serve(), "ada");
    const { "x-user": _, ...nameless } = headers;
    for (const wrong of [{ ...headers, "x-user": "eve" }, nameless]) {
      for (const method of ["GET", "DELETE"]) {
        assertEquals((await world.send(world.serve(), method, wrong)).status, 404);
      }
      assertEquals((await world.post(world.serve(), wrong, "tools/call", call)).status, 404);
    }
    const served = world.serve();
    const [foreign, own] = await Promise.all([
      world.post(served, { ...headers, "x-user": "eve" }, "tools/call", call),
      world.post(served, headers, "tools/call", call),
    ]);
    assertEquals([foreign.status, own.status, textOf(own.body)], [404, 200, "hi ada ada"]);
    assertEquals((await world.post(served, { ...headers, "x-user": "eve" }, "tools/call", call)).status, 404);
  });

  test("is woken once, however many ask for it", async () => {
    const world = new World();
    const headers = await world.open(world.serve());
    const served = world.serve();
    world.store.reads = 0;
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => world.post(served, headers, "tools/call", call)),
    );
    assertEquals(new Set(answers.map(({ body }) => textOf(body))), new Set(["hi ada nobody"]));
    assertEquals(world.store.reads, 1);
  });

  test("two processes hear of each other's changes, and of its end", async () => {
    const world = new World();
    const [here, there] = [world.serve(), world.serve()];
    const headers = await world.open(here);
    const logs = async (served: typeof here) =>
      (await world.post(served, headers, "tools/call", call)).events.length - 1;
    assertEquals([await logs(here), await logs(there)], [1, 1]);
    await world.post(there, headers, "logging/setLevel", { level: "error" });
    await world.clock.advance(1_000);
    assertEquals([await logs(here), await logs(there)], [0, 0]);
    assertEquals((await world.send(here, "DELETE", headers)).status, 200);
    assertEquals(world.store.texts.size, 0);
    await world.clock.advance(1_000);
    for (const served of [here, there, world.serve()]) {
      assertEquals((await world.post(served, headers, "ping")).status, 404);
    }
  });

  test("that is ended stays ended, also when something of it is being written", async () => {
    const world = new World();
    const served = world.serve();
    const headers = await world.open(served);
    await world.clock.advance(120_000);
    let release = (): void => {};
    world.store.held = new Promise((resolve) => release = resolve);
    await world.post(served, headers, "ping");
    const ended = world.send(served, "DELETE", headers);
    await world.clock.settle();
    release();
    assertEquals((await ended).status, 200);
    await world.clock.settle();
    assertEquals(world.store.texts.size, 0);
  });

  test("changes of two processes at different times both stay", async () => {
    const world = new World();
    const [here, there] = [world.serve(), world.serve()];
    const headers = await world.open(here);
    await world.post(there, headers, "resources/subscribe", { uri: "note://1" });
    await world.post(here, headers, "logging/setLevel", { level: "error" });
    const [record] = [...world.store.texts.values()].map((text) => JSON.parse(text).lasting);
    assertEquals([record.level, record.resources], ["error", ["note://1"]]);
  });

  test("is forgotten when nobody uses it; one whose stream is open is used", async () => {
    const world = new World();
    const sessions = { idle: 60_000 };
    const served = world.serve(sessions);
    await world.open(served);
    const listening = await world.open(served);
    const stream = await world.send(served, "GET", listening);
    for (let minute = 0; minute < 10; minute++) {
      await world.clock.advance(60_000);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await until(() => world.store.texts.size === 1, 2_000);
    assertEquals((await world.post(world.serve(sessions), listening, "ping")).status, 200);
    await stream.body?.cancel();
    served.handler.close();
    await world.clock.advance(600_000);
    assertEquals((await world.post(world.serve(sessions), listening, "ping")).status, 404);
    assertEquals(world.store.texts.size, 0);
  });

  test("of a process that has died is there until it was idle for too long, and forgotten when it is asked for", async () => {
    for (const [idle, status] of [[89_999, 200], [90_000, 404]] as const) {
      const world = new World();
      const headers = await world.open(world.serve({ idle: 60_000 }));
      // Nothing of that process comes any more.
      world.time.isDead = true;
      await world.clock.advance(idle);
      world.time.isDead = false;
      const served = world.serve({ idle: 60_000 });
      assertEquals((await world.post(served, headers, "ping")).status, status);
      assertEquals([world.store.texts.size, served.logs], [status === 200 ? 1 : 0, []]);
    }
  });

  test("that is over and cannot be forgotten now is told to the operator, and not woken", async () => {
    const world = new World();
    const headers = await world.open(world.serve({ idle: 60_000 }));
    world.time.isDead = true;
    await world.clock.advance(90_000);
    world.time.isDead = false;
    const served = world.serve({ idle: 60_000 });
    world.store.delete = () => Promise.reject(new Error("the disk is full"));
    assertEquals((await world.post(served, headers, "ping")).status, 404);
    assertEquals(served.logs.map(({ message }) => message), ["A session could not be deleted from its store"]);
  });

  test("that had to make room is woken when it is asked for", async () => {
    const world = new World();
    const served = world.serve({ max: 1 });
    const first = await world.open(served);
    await world.clock.advance(10);
    const second = await world.open(served);
    await world.clock.advance(10);
    assertEquals((await world.post(served, first, "ping")).status, 200);
    await world.clock.advance(10);
    assertEquals((await world.post(served, second, "ping")).status, 200);
    const stream = await world.send(served, "GET", second);
    assertEquals((await world.post(served, first, "ping")).status, 503);
    await stream.body?.cancel();
  });

  test("keeps neither its id nor what proves who the caller is, and only what is needed of the handshake", async () => {
    const world = new World();
    const served = world.serve();
    const headers: Record<string, string> = await world.open(served, "ada", { roots: {} });
    headers.authorization = "Bearer hunter2";
    await world.post(served, headers, "logging/setLevel", { level: "error" });
    const [[key, text] = ["", ""]] = world.store.texts;
    assert(/^mcp-session:[0-9a-f]{64}$/.test(key), key);
    for (const secret of [headers["mcp-session-id"]!, "hunter2"]) assert(!(key + text).includes(secret));
    const { lasting, principal } = JSON.parse(text);
    assertEquals([principal, lasting.initialize.capabilities], ["ada", { roots: {} }]);
  });

  test("what would be too much to keep is refused", async () => {
    const world = new World();
    const served = world.serve({}, { maxCharacters: 400 });
    const headers = await world.open(served);
    const { body } = await world.post(served, headers, "resources/subscribe", { uri: `note://${"x".repeat(400)}` });
    assertEquals((body.error as { code: number }).code, -32600);
    const params = { protocolVersion: "2025-11-25", capabilities: { experimental: { x: "y".repeat(400) } } };
    const refused = await world.post(served, {}, "initialize", params);
    assertEquals([refused.session, world.store.texts.size], [null, 1]);
  });

  test("streams do not last: the own one begins anew, the rest of a call is not there", async () => {
    const world = new World();
    const first = world.serve();
    const headers = await world.open(first);
    const answered = await first.handler(
      new Request("http://localhost/mcp", {
        method: "POST",
        headers: { ...headers, "content-type": "application/json", accept: "application/json, text/event-stream" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 5, method: "tools/call", params: call }),
      }),
    );
    const ids = [...(await answered.text()).matchAll(/^id: (\S+)$/gm)].map(([, id]) => id!);
    assert(ids.length > 0);
    const second = world.serve();
    // A call of its own, whose stream must not be taken for that of the other process.
    await world.post(second, headers, "tools/call", call);
    const rest = await world.send(second, "GET", { ...headers, "last-event-id": ids[0]! });
    assertEquals(rest.status, 400);
    const own = await world.send(first, "GET", headers);
    const [, primed] = /^id: (\S+)$/m.exec(new TextDecoder().decode((await own.body!.getReader().read()).value)) ?? [];
    const again = await world.send(second, "GET", { ...headers, "last-event-id": primed! });
    assertEquals(again.status, 200);
    await again.body?.cancel();
  });
});

describe("a store in a bad mood", () => {
  for (const mood of ["fails", "hangs"] as const) {
    test(`that ${mood} lets nobody in, holds nobody up, and is told to the operator`, async () => {
      const world = new World();
      const here = world.serve();
      const headers = await world.open(here);
      world.store.mood = mood;
      const inTime = async <Value>(work: Promise<Value>): Promise<Value> => {
        let done = false;
        void work.finally(() => done = true);
        // Keys are hashed beside this thread: that takes a moment which no clock of ours counts.
        for (let second = 0; second < 60 && !done; second++) {
          await new Promise((resolve) => setTimeout(resolve, 5));
          await world.clock.advance(1_000);
        }
        assert(done, "it was held up");
        return await work;
      };
      // In memory: served as before.
      assertEquals((await inTime(world.post(here, headers, "ping"))).status, 200);
      assertEquals((await inTime(world.post(here, headers, "logging/setLevel", { level: "error" }))).status, 200);
      // Elsewhere: nobody knows.
      const there = world.serve();
      const asked = await inTime(world.send(there, "GET", headers));
      assertEquals([asked.status, asked.headers.get("retry-after")], [503, "5"]);
      // New ones live in memory alone.
      const fresh = await inTime(world.open(there));
      assertEquals((await inTime(world.post(there, fresh, "ping"))).status, 200);
      // What is not forgotten is not said to be.
      assertEquals((await inTime(world.send(here, "DELETE", headers))).status, 503);
      const messages = new Set([...here.logs, ...there.logs].map(({ level, message }) => `${level}: ${message}`));
      assertEquals([...messages].sort(), [
        "error: A session could not be deleted from its store",
        "error: A session could not be read from its store",
        "error: A session could not be written to its store",
      ]);
      world.store.mood = "well";
      assertEquals((await world.post(there, headers, "ping")).status, 200);
    });
  }

  test("that hangs holds up one request of a session, not each", async () => {
    const world = new World();
    const here = world.serve({}, { fresh: 60_000 });
    const headers = await world.open(here);
    await world.clock.advance(61_000);
    world.store.mood = "hangs";
    const waits: number[] = [];
    for (let turn = 0; turn < 4; turn++) {
      const began = world.clock.monotonic();
      const asked = world.post(here, headers, "ping");
      let done = false;
      void asked.finally(() => done = true);
      while (!done) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        if (!done) await world.clock.advance(500);
      }
      assertEquals((await asked).status, 200);
      waits.push(world.clock.monotonic() - began);
    }
    assertEquals(waits.filter((wait) => wait >= 4_000).length, 1, waits.join());
  });

  test("hears later what it could not take: a change that was promised stays", async () => {
    const world = new World();
    const [here, there] = [world.serve(), world.serve()];
    const headers = await world.open(here);
    world.store.mood = "fails";
    for (const level of ["debug", "error"]) await world.post(here, headers, "logging/setLevel", { level });
    await world.post(here, headers, "resources/subscribe", { uri: "note://1" });
    world.store.mood = "well";
    for (const served of [here, there]) {
      await world.clock.advance(1_000);
      assertEquals((await world.post(served, headers, "tools/call", call)).events.length, 1);
      await until(() => [...world.store.texts.values()].join().includes("note://1"), 2_000);
    }
  });

  test("what it gives back has to be a session", async () => {
    const world = new World();
    const headers = await world.open(world.serve());
    const [[key = ""] = []] = world.store.texts;
    for (const text of ["", "{", "null", "[]", "{}", '{"principal":null,"at":0,"lasting":{"initialize":1}}']) {
      world.store.texts.set(key, text);
      const served = world.serve();
      assertEquals((await world.post(served, headers, "ping")).status, 503, text);
      assertEquals(served.logs.length, 1, text);
    }
  });

  test("that says null where there is nothing has nothing", async () => {
    const world = new World();
    world.store.get = () => Promise.resolve(null as unknown as undefined);
    assertEquals((await world.post(world.serve(), { "mcp-session-id": "none" }, "ping")).status, 404);
  });

  test("that writes when nobody waits for it any more brings back no session that was ended", async () => {
    const world = new World();
    const here = world.serve();
    const headers = await world.open(here);
    let release = (): void => {};
    let isWriting = false;
    const set = world.store.set.bind(world.store);
    world.store.held = new Promise((resolve) => release = resolve);
    world.store.set = (key, value) => {
      isWriting = true;
      return set(key, value);
    };
    const changing = world.post(here, headers, "logging/setLevel", { level: "error" });
    await until(() => isWriting, 2_000);
    const ending = world.send(here, "DELETE", headers);
    await world.clock.advance(5_000);
    assertEquals((await ending).status, 200);
    await changing;
    assertEquals(world.store.texts.size, 0);
    release();
    await new Promise((resolve) => setTimeout(resolve, 5));
    assertEquals(world.store.texts.size, 0);
    assertEquals((await world.post(world.serve(), headers, "ping")).status, 404);
  });

  test("is not asked for what cannot be an id", async () => {
    const world = new World();
    for (const id of ["x".repeat(600), "a b"]) {
      assertEquals((await world.post(world.serve(), { "mcp-session-id": id }, "ping")).status, 404);
    }
    assertEquals(world.store.reads, 0);
  });

  test("options that make no sense are refused", () => {
    for (const options of [{ timeout: 0 }, { fresh: -1 }, { maxCharacters: NaN }]) {
      assertThrows(() => createSessionStore(new TestStore(), options), RangeError, Object.keys(options)[0]);
    }
  });
});
