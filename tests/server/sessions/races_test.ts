/** Several processes that change what is kept of a session in the same moment. */
import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { ComparingStore, TestStore } from "../../support/test_store.ts";
import { type Served, World } from "./support.ts";

/** A session of two processes, one of which notes that it was used: it has read, and writes when it is let go. */
async function holdNote(): Promise<{ world: World; here: Served; headers: Record<string, string>; release(): void }> {
  const world = new World(new ComparingStore());
  const [here, there] = [world.serve(), world.serve()];
  const headers = await world.open(here);
  assertEquals((await world.post(there, headers, "ping")).status, 200);
  await world.clock.advance(120_000);
  let release = () => {};
  world.store.held = new Promise((resolve) => release = resolve);
  assertEquals((await world.post(there, headers, "ping")).status, 200);
  await world.clock.settle();
  world.store.held = undefined;
  return { world, here, headers, release };
}

/** A store whose reads wait, once it was told. */
class SlowStore extends TestStore {
  reading: Promise<void> | undefined;

  override async get(key: string): Promise<string | undefined> {
    await this.reading;
    return await super.get(key);
  }
}

describe("races of sessions", () => {
  test("what asks for a session while its process closes is done by another process, and here no more", async () => {
    const ways: [string, (world: World, here: Served, headers: Record<string, string>) => Promise<number>][] = [
      [
        "a call",
        async (world, here, headers) => (await world.post(here, headers, "tools/call", { name: "run" })).status,
      ],
      ["a stream", async (world, here, headers) => (await world.send(here, "GET", headers)).status],
    ];
    for (const [what, ask] of ways) {
      for (const isKnown of [false, true]) {
        const store = new SlowStore();
        const world = new World(store);
        const [first, second] = [world.serve(), world.serve()];
        let runs = 0;
        second.server.tool("run", {}, () => `${++runs}`);
        const headers = await world.open(first);
        if (isKnown) await world.post(second, headers, "ping");
        await world.clock.advance(2_000);
        let release = () => {};
        store.reading = new Promise((resolve) => release = resolve);
        const asking = ask(world, second, headers);
        await world.clock.settle();
        second.handler.close();
        release();
        assertEquals([what, isKnown, await asking, runs], [what, isKnown, 503, 0]);
        store.reading = undefined;
        assertEquals((await world.post(first, headers, "ping")).status, 200);
      }
    }
  });

  test("a session that is ended in one process is not brought back by another that notes its use", async () => {
    const { world, here, headers, release } = await holdNote();
    assertEquals((await world.send(here, "DELETE", headers)).status, 200);
    assertEquals(world.store.texts.size, 0);
    release();
    await world.clock.advance(1_000);
    assertEquals((await world.post(world.serve(), headers, "ping")).status, 404);
    assertEquals(world.store.texts.size, 0);
  });

  test("a note of use in one process does not undo a subscription of another", async () => {
    const { world, here, headers, release } = await holdNote();
    const { body } = await world.post(here, headers, "resources/subscribe", { uri: "note://1" });
    assertEquals("result" in body, true);
    release();
    await world.clock.settle();
    const [text] = world.store.texts.values();
    assertEquals(JSON.parse(text ?? "{}").lasting.resources, ["note://1"]);
  });
});

describe("a request that a Worker has ended while it waited for the store", () => {
  for (const method of ["logging/setLevel", "ping"]) {
    for (const where of ["here", "there"] as const) {
      test(`holds up nobody who comes after it (${method}, ${where})`, async () => {
        const world = new World();
        const [first, second] = [world.serve(), world.serve()];
        const headers = await world.open(first);
        const served = where === "here" ? first : second;
        // What was read a moment ago is not read again: then it ends as it writes.
        if (method === "ping") await world.clock.advance(2_000);
        world.time.isDead = true;
        world.store.mood = "hangs";
        void world.post(served, headers, method, { level: "error" });
        await world.clock.settle();
        world.store.mood = "well";
        world.time.isDead = false;
        // It may be refused once: then the session is looked up anew.
        const asking = (): Promise<number> => world.post(served, headers, "ping").then(({ status }) => status);
        const statuses = [await world.clock.until(asking(), 60_000)];
        if (statuses[0] === 503) statuses.push(await world.clock.until(asking(), 60_000));
        assertEquals(statuses.at(-1), 200);
        await world.clock.advance(2_000);
        const { body } = await world.clock.until(
          world.post(served, headers, "logging/setLevel", { level: "info" }),
          60_000,
        );
        assertEquals("result" in body, true);
        const [text] = world.store.texts.values();
        assertEquals(JSON.parse(text ?? "{}").lasting.level, "info");
        assertEquals((await world.clock.until(world.send(served, "DELETE", headers), 60_000)).status, 200);
      });
    }
  }

  test("keeps nobody from noting that a session is in use by its stream alone", async () => {
    const idle = 60_000;
    const world = new World();
    const [here, there] = [world.serve({ idle }), world.serve({ idle })];
    world.time.isDead = true;
    await world.open(here);
    world.time.isDead = false;
    await world.clock.advance(idle);
    const headers = await world.open(here);
    const stream = await world.send(here, "GET", headers);
    assertEquals(stream.status, 200);
    await world.clock.advance(3 * idle);
    assertEquals((await world.post(there, headers, "ping")).status, 200);
    await stream.body?.cancel();
  });

  test("nor that the only session is", async () => {
    const idle = 60_000;
    const world = new World();
    const [here, there] = [world.serve({ idle }), world.serve({ idle })];
    world.time.isDead = true;
    const headers = await world.open(here);
    world.time.isDead = false;
    const stream = await world.send(here, "GET", headers);
    assertEquals(stream.status, 200);
    await world.clock.advance(3 * idle);
    // A stream that is refused takes nothing away.
    world.time.isDead = true;
    assertEquals((await world.send(here, "GET", headers)).status, 409);
    world.time.isDead = false;
    await world.clock.advance(3 * idle);
    assertEquals((await world.post(there, headers, "ping")).status, 200);
    await world.send(here, "DELETE", headers);
    await stream.body?.cancel();
    await world.clock.advance(2 * idle);
    here.handler.close();
    there.handler.close();
    assertEquals(world.clock.waiting, 0);
  });
});
