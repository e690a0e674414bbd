import { assert, assertEquals, assertNotEquals, assertRejects, assertThrows } from "@std/assert";
import { describe, it } from "node:test";
import { Hub } from "../../../src/hub/hub.ts";
import { Refusal } from "../../../src/runner/mod.ts";
import { HubPool } from "../../../src/runner/tenants/hub_pool.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";

/** A pool of hubs without servers, and what became of them. */
function createPool(options: { most?: number; idle?: number } = {}) {
  const clock = new VirtualClock();
  const opened: string[] = [];
  const closed: string[] = [];
  const faults = new Set<string>();
  const pool = new HubPool({
    ...options,
    clock,
    logger: undefined,
    async open(tenant) {
      await Promise.resolve();
      if (faults.has(tenant)) throw new Error("the config is gone");
      opened.push(tenant);
      const hub = new Hub(() => Promise.reject(new Error("nobody")));
      const close = hub.close.bind(hub);
      return Object.assign(hub, { close: () => (closed.push(tenant), close()) });
    },
  });
  return { pool, clock, opened, closed, faults };
}

describe("hubs of tenants", () => {
  it("are made once for all who ask at once, and shared", async () => {
    const { pool, opened } = createPool();
    const leases = await Promise.all([pool.lease("a"), pool.lease("a"), pool.lease("b")]);
    assertEquals(opened, ["a", "b"]);
    assert(leases[0].hub === leases[1].hub);
    assertNotEquals(leases[0].hub, leases[2].hub);
    await pool.close();
  });

  it("are closed when they are idle, and never in use", async () => {
    const { pool, clock, closed } = createPool({ idle: 1_000 });
    const a = await pool.lease("a");
    const b = await pool.lease("b");
    b.release();
    await clock.advance(2_500);
    assertEquals(closed, ["b"]);
    a.release();
    a.release();
    await clock.advance(500);
    assertEquals(closed, ["b"]);
    await clock.advance(2_000);
    assertEquals([closed, pool.size], [["b", "a"], 0]);
    await pool.close();
    assertEquals(clock.waiting, 0);
  });

  it("are closed when each of them was idle for as long as it may, and look at nothing once the pool is closed", async () => {
    const { pool, clock, closed } = createPool({ idle: 1_000 });
    const [a, b, c] = [await pool.lease("a"), await pool.lease("b"), await pool.lease("c")];
    a.release();
    await clock.advance(600);
    b.release();
    await clock.advance(400);
    assertEquals(closed, ["a"]);
    await clock.advance(599);
    assertEquals(closed, ["a"]);
    await clock.advance(1);
    assertEquals(closed, ["a", "b"]);
    await pool.close();
    c.release();
    assertEquals(clock.waiting, 0);
  });

  it("are so many at most: the idle one that was not used for longest goes", async () => {
    const { pool, opened, closed } = createPool({ most: 2 });
    const a = await pool.lease("a");
    (await pool.lease("b")).release();
    a.release();
    (await pool.lease("a")).release();
    const c = await pool.lease("c");
    assertEquals(closed, ["b"]);
    const again = await pool.lease("a");
    const refused = await assertRejects(() => pool.lease("d"), Refusal) as Refusal;
    assertEquals([refused.status, refused.code], [503, "overloaded"]);
    c.release();
    again.release();
    (await pool.lease("d")).release();
    assertEquals(opened, ["a", "b", "c", "d"]);
    await pool.close();
    await assertRejects(() => pool.lease("a"), Refusal, "closing");
  });

  it("are so many at most: how long one was idle counts from its last use, and not from where that began", async () => {
    const { pool, closed } = createPool({ most: 2 });
    const long = await pool.lease("long");
    (await pool.lease("short")).release();
    long.release();
    (await pool.lease("next")).release();
    assertEquals(closed, ["short"]);
    await pool.close();
  });

  it("that cannot be made are asked for again", async () => {
    const { pool, faults } = createPool();
    faults.add("a");
    const refused = await assertRejects(() => pool.lease("a"), Refusal) as Refusal;
    assertEquals([refused.status, pool.size], [503, 0]);
    faults.clear();
    (await pool.lease("a")).release();
    await pool.close();
  });

  it("end what belongs to them", async () => {
    const { pool } = createPool();
    const ended: string[] = [];
    const lease = await pool.lease("a");
    const part = (key: string) => lease.part(key, () => ({ close: () => void ended.push(key) }));
    assert(part("one") === part("one"));
    for (let count = 0; count < 1_000; count++) part(`more-${count}`);
    assertEquals(ended, ["one"]);
    await pool.drop("a");
    assertEquals(ended.length, 1_001);
    lease.release();
  });

  it("that were dropped while they were used take no other one's place when they are let go of", async () => {
    const { pool, closed } = createPool();
    const old = await pool.lease("a");
    await pool.drop("a");
    const next = await pool.lease("a");
    old.release();
    const another = await pool.lease("a");
    assert(another.hub === next.hub && another.hub !== old.hub);
    assertEquals([pool.size, closed], [1, ["a"]]);
    await pool.close();
  });

  it("take nothing more once they have ended: it would outlive them", async () => {
    for (const end of ["drop", "close"] as const) {
      const { pool } = createPool();
      const lease = await pool.lease("a");
      await pool[end]("a");
      let made = 0;
      const refused = assertThrows(() => lease.part("late", () => ({ close: () => made++ })), Refusal);
      assertEquals([refused.status, refused.code, made], [503, "closing", 0]);
      lease.release();
      await pool.close();
    }
  });
});
