/** Several processes that change what is kept of a session in the same moment. */
import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { ComparingStore } from "../../support/test_store.ts";
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

describe("races of sessions", () => {
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
