/** What one process changes of a session that several serve, and what reaches the server through one that is kept. */
import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { heldRequest } from "../../support/held_request.ts";
import { ComparingStore, type TestStore } from "../../support/test_store.ts";
import { World } from "./support.ts";

/** Reads a stream until a text has come. */
async function readUntil(response: Response, text: string): Promise<string> {
  let all = "";
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  while (!all.includes(text)) {
    const { done, value } = await reader.read();
    assert(!done, `it ended with ${all}`);
    all += value;
  }
  await reader.cancel();
  return all;
}

/** What is kept of the one session. */
function kept(store: TestStore) {
  const [text = "{}"] = store.texts.values();
  return JSON.parse(text).lasting;
}

/** A store that holds its writes back until they are let go. */
function hold(store: TestStore): () => void {
  let release = (): void => {};
  store.held = new Promise((resolve) => release = resolve);
  return () => {
    store.held = undefined;
    release();
  };
}

describe("a session over a store", () => {
  test("takes what its client tells: a call is called off", async () => {
    const world = new World();
    const served = world.serve();
    let aborted: unknown;
    let begun = false;
    served.server.tool("hangs", {}, (_args, { signal }) => {
      begun = true;
      return new Promise(() => signal.addEventListener("abort", () => aborted = signal.reason));
    });
    const headers = await world.open(served);
    void world.post(served, headers, "tools/call", { name: "hangs" });
    while (!begun) await world.clock.settle();
    await world.post(served, headers, "notifications/cancelled", { requestId: 2, reason: "enough" });
    assert(aborted !== undefined);
    served.handler.close();
  });

  test("ends what runs in it when its client ends it", async () => {
    const world = new World();
    const served = world.serve();
    let signal: AbortSignal | undefined;
    served.server.tool("hangs", {}, (_args, context) => {
      ({ signal } = context);
      return new Promise(() => {});
    });
    const headers = await world.open(served);
    void world.post(served, headers, "tools/call", { name: "hangs" });
    while (!signal) await world.clock.settle();
    assertEquals((await world.send(served, "DELETE", headers)).status, 200);
    assertEquals(signal.aborted, true);
  });

  for (const how of ["its stream", "a call"]) {
    test(`tells of changes, and asks, where another process was told that the client is ready (${how})`, async () => {
      const world = new World();
      const [here, there] = [world.serve(), world.serve()];
      const clientInfo = { name: "ada", version: "1" };
      const params = { protocolVersion: "2025-11-25", capabilities: { elicitation: {} }, clientInfo };
      const { session } = await world.post(here, {}, "initialize", params);
      const headers = { "mcp-session-id": session ?? "none", "mcp-protocol-version": "2025-11-25" };
      await world.post(there, headers, "notifications/initialized");
      let asked: Promise<unknown> | undefined;
      here.server.tool("asks", {}, (_args, { elicit, signal }) => {
        asked = elicit({ message: "Who?", requestedSchema: { type: "object", properties: {} } }).catch(() => {});
        return new Promise((resolve) => signal.addEventListener("abort", () => resolve("none")));
      });
      const call = { jsonrpc: "2.0", id: 7, method: "tools/call", params: { name: "asks" } };
      const accept = "application/json, text/event-stream";
      const response = how === "a call"
        ? here.handler(heldRequest("http://localhost/mcp", {
          method: "POST",
          headers: { "content-type": "application/json", accept, ...headers },
          body: JSON.stringify(call),
        }))
        : world.send(here, "GET", headers);
      await world.clock.advance(10_000);
      here.server.tool("late", {}, () => "late");
      await world.clock.settle();
      // What was told by now is read, and no more comes.
      here.handler.close();
      await readUntil(await response, how === "a call" ? "elicitation/create" : "notifications/tools/list_changed");
      await asked;
    });
  }

  test("is told of no resource any more that another process was told to watch no longer", async () => {
    const world = new World();
    const [here, there] = [world.serve(), world.serve()];
    const headers = await world.open(here);
    await world.post(here, headers, "resources/subscribe", { uri: "note://2" });
    await world.post(there, headers, "resources/subscribe", { uri: "note://1" });
    await world.clock.advance(1_000);
    await world.post(here, headers, "ping");
    const stream = await world.send(here, "GET", headers);
    here.server.resourceUpdated("note://1");
    await world.post(there, headers, "resources/unsubscribe", { uri: "note://1" });
    await world.clock.advance(1_000);
    await world.post(here, headers, "ping");
    for (const uri of ["note://1", "note://2"]) here.server.resourceUpdated(uri);
    const told = await readUntil(stream, "note://2");
    assertEquals(told.split("note://1").length, 2, told);
    here.handler.close();
  });

  test("keeps both of two changes that two processes write at the same time, where the store compares", async () => {
    const world = new World(new ComparingStore());
    const [here, there] = [world.serve(), world.serve()];
    const headers = await world.open(here);
    await world.post(there, headers, "ping");
    const release = hold(world.store);
    const changes = Promise.all([
      world.post(here, headers, "logging/setLevel", { level: "error" }),
      world.post(there, headers, "resources/subscribe", { uri: "note://1" }),
    ]);
    await world.clock.settle();
    release();
    assertEquals((await changes).map(({ status }) => status), [200, 200]);
    assertEquals([kept(world.store).level, kept(world.store).resources], ["error", ["note://1"]]);
  });

  test("keeps the later one of two changes of the same, also when it comes while the first is written", async () => {
    const world = new World();
    const here = world.serve();
    const headers = await world.open(here);
    const release = hold(world.store);
    const first = world.post(here, headers, "logging/setLevel", { level: "error" });
    await world.clock.settle();
    const second = world.post(here, headers, "logging/setLevel", { level: "debug" });
    await world.clock.settle();
    release();
    await Promise.all([first, second]);
    assertEquals(kept(world.store).level, "debug");
  });

  test("is in use while a call runs in it, for all processes", async () => {
    const world = new World();
    const sessions = { idle: 60_000 };
    const here = world.serve(sessions);
    let goOn: (() => void) | undefined;
    here.server.tool("slow", {}, async () => {
      await new Promise<void>((resolve) => goOn = resolve);
      return "done";
    });
    const headers = await world.open(here);
    const call = world.post(here, headers, "tools/call", { name: "slow" });
    while (!goOn) await world.clock.settle();
    for (let quarter = 0; quarter < 12; quarter++) {
      await world.clock.advance(15_000);
      await world.clock.settle();
    }
    assertEquals((await world.post(world.serve(sessions), headers, "ping")).status, 200);
    goOn();
    assertEquals((await call).status, 200);
    here.handler.close();
  });

  test("is kept while another process uses it, also where this one has forgotten it", async () => {
    const world = new World();
    const sessions = { idle: 60_000 };
    const [here, there] = [world.serve(sessions), world.serve(sessions)];
    const headers = await world.open(here);
    for (let quarter = 0; quarter < 16; quarter++) {
      await world.clock.advance(15_000);
      assertEquals((await world.post(there, headers, "ping")).status, 200);
      await world.clock.settle();
    }
    assertEquals([world.store.texts.size, (await world.post(here, headers, "ping")).status], [1, 200]);
    for (const { handler } of [here, there]) handler.close();
    assertEquals(world.clock.waiting, 0, "a process that has closed waits for nothing");
  });

  test("that cannot be read again is served from memory, and the operator hears of it", async () => {
    const world = new World();
    const here = world.serve();
    const headers = await world.open(here);
    world.store.mood = "fails";
    await world.clock.advance(1_000);
    assertEquals((await world.post(here, headers, "ping")).status, 200);
    assertEquals(here.logs.map(({ message }) => message), ["A session could not be read from its store"]);
  });
});
