/** Several programs over one store: leases, those who leave them behind, and clocks that jump. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, test } from "node:test";
import type { Clock } from "../../../src/ports.ts";
import { TimeoutError } from "../../../src/protocol/errors.ts";
import { delay, gate, networkFailure, silence } from "../world/faults.ts";
import { resourceUrl, type World } from "../world/world.ts";
import { assertNewest, assertOnce, createRace, sleep } from "./race.ts";

const hour = 3_600_000;

/** A clock whose time of day can jump. */
function jumping({ clock }: World): Clock & { offset: number } {
  return {
    offset: 0,
    now() {
      return clock.now() + this.offset;
    },
    monotonic: () => clock.monotonic(),
    schedule: (callback, milliseconds) => clock.schedule(callback, milliseconds),
  };
}

describe("programs over one store", () => {
  for (const [programs, count] of [[2, 10], [2, 100], [5, 10]] as const) {
    test(`${programs} with ${count} calls each: one refresh`, async () => {
      const race = await createRace();
      await race.world.clock.advance(hour);
      const all = [race.first, ...Array.from({ length: programs - 1 }, () => race.another())];
      race.world.fault("/token", delay(race.world.clock, 300));
      assertOnce(race, await race.drive(race.calls(count, all)));
    });

    test(`${programs} with ${count} calls each, revoked early, and a slow store: one refresh`, async () => {
      const race = await createRace();
      race.world.server.issued.revokeAccess();
      let step = 0;
      race.store.latency = () => 20 + 60 * (step++ % 7);
      const all = [race.first, ...Array.from({ length: programs - 1 }, () => race.another())];
      assertOnce(race, await race.drive(race.calls(count, all)));
    });
  }

  test("while one renews ahead of the end, the others use the token", async () => {
    const race = await createRace();
    const { world, first } = race;
    await world.clock.advance(245_000);
    const { fault, release } = gate();
    world.fault("/token", fault);
    const renewing = first.call();
    await race.asked();
    assertEquals(await race.calls(10, [race.another()]), Array(10).fill(200));
    release();
    assertOnce(race, [await renewing]);
  });

  test("one hears late that a token was revoked which the other has renewed", async () => {
    const race = await createRace();
    const { world, first } = race;
    const other = race.another();
    assertEquals(await other.call(), 200);
    world.server.issued.revokeAccess();
    assertEquals(await first.call(), 200);
    assertOnce(race, await race.calls(10, [other]));
  });
});

describe("a token that another program got", () => {
  test("and that was revoked since is renewed before anybody is asked", async () => {
    const race = await createRace();
    const { world, first } = race;
    const other = race.another();
    assertEquals([await other.call(), await first.oauth.signOut(resourceUrl)], [200, { revoked: true }]);
    // One knows an old token, one knows that there was none; the new one is a third program's.
    await race.another().oauth.signIn(resourceUrl);
    world.server.issued.revokeAccess();
    world.log.clear();
    world.person.visits.length = 0;
    assertEquals(await race.drive(race.calls(10, [first, other])), Array(20).fill(200));
    assertEquals([race.sent().length, world.person.visits.length], [1, 0]);
    assertNewest(race);
  });
});

describe("a lease", () => {
  for (const calls of [1, 10]) {
    test(`left behind by one that was killed is waited for, and taken over (${calls} calls)`, async () => {
      const race = await createRace();
      const { world, first } = race;
      await world.clock.advance(hour);
      world.fault("/token", silence);
      const killed = race.another({
        timeout: 10_000,
        fetch: (url, init) => world.fetch(url, { ...init, signal: null }),
      });
      killed.call().catch(() => {});
      await race.asked();
      assert(race.stored()?.["lease"]);
      // What was killed does nothing any more: its time-out is not heard.
      race.store.fails = () => false;
      const began = world.clock.monotonic();
      const texts = race.store.texts;
      const frozen = [...texts];
      await world.clock.advance(10_000);
      for (const [key, text] of frozen) texts.set(key, text);
      assertEquals(await race.drive(race.calls(calls)), Array(calls).fill(200));
      const took = world.clock.monotonic() - began;
      assert(took >= 15_000 && took < 17_000, String(took));
      assertEquals(world.person.visits.length, 0);
      assertNewest(race);
      assertEquals(await first.call(), 200);
    });
  }

  test("that was left behind yesterday is not waited for", async () => {
    const race = await createRace();
    const { world, store } = race;
    const [key = "", text = ""] = [...store.texts].find(([name]) => name.startsWith("oauth.tokens.")) ?? [];
    store.texts.set(
      key,
      JSON.stringify({ ...JSON.parse(text), lease: { id: "gone", until: world.clock.now() + 15_000 } }),
    );
    await world.clock.advance(24 * hour - 1);
    const began = world.clock.monotonic();
    world.server.knobs.refreshLifetime = 1e9;
    const calls = await race.drive(race.calls(10, [race.another()]));
    assertEquals([calls, world.clock.monotonic() - began < 100], [Array(10).fill(200), true]);
  });

  test("of one whose clock is an hour ahead is waited for no longer than others", async () => {
    const race = await createRace();
    const { world, store } = race;
    await world.clock.advance(hour);
    const [key = "", text = ""] = [...store.texts].find(([name]) => name.startsWith("oauth.tokens.")) ?? [];
    const lease = { id: "gone", until: world.clock.now() + hour + 15_000 };
    store.texts.set(key, JSON.stringify({ ...JSON.parse(text), lease }));
    const began = world.clock.monotonic();
    assertOnce(race, await race.drive(race.calls(10)));
    const took = world.clock.monotonic() - began;
    assert(took >= 15_000 && took < 17_000, String(took));
  });

  test("that seems over to one whose clock is 20 s ahead is waited for", async () => {
    const race = await createRace();
    const { world, first } = race;
    await world.clock.advance(hour);
    const clock = jumping(world);
    clock.offset = 20_000;
    const other = race.another({ clock });
    const { fault, release } = gate();
    world.fault("/token", fault);
    const renewing = first.call();
    await race.asked();
    const waiting = other.call();
    await race.drive(sleep(world.clock, 100));
    release();
    assertOnce(race, await race.drive(Promise.all([renewing, waiting])));
  });

  test("that ended a moment ago, of one that was killed, is waited for no longer than others", async () => {
    const race = await createRace();
    const { world, store } = race;
    await world.clock.advance(hour);
    const [key = "", text = ""] = [...store.texts].find(([name]) => name.startsWith("oauth.tokens.")) ?? [];
    const lease = { id: "gone", until: world.clock.now() - 1 };
    store.texts.set(key, JSON.stringify({ ...JSON.parse(text), lease }));
    const began = world.clock.monotonic();
    assertOnce(race, await race.drive(race.calls(10)));
    const took = world.clock.monotonic() - began;
    assert(took >= 15_000 && took < 17_000, String(took));
  });

  test("that never ends, since one after another takes it: the calls give up", async () => {
    const race = await createRace();
    const { world, store } = race;
    await world.clock.advance(hour);
    const [key = "", text = ""] = [...store.texts].find(([name]) => name.startsWith("oauth.tokens.")) ?? [];
    let turn = 0;
    const go = () => {
      const lease = { id: `other ${turn++}`, until: world.clock.now() + 15_000 };
      store.texts.set(key, JSON.stringify({ ...JSON.parse(text), lease }));
      if (turn < 100) void sleep(world.clock, 1_000).then(go);
    };
    go();
    const began = world.clock.monotonic();
    const error = await assertRejects(() => race.drive(race.first.call()), TimeoutError);
    assertEquals(error.delivery, "not-sent");
    assert(world.clock.monotonic() - began < 33_000);
    assertEquals(world.log.all, []);
  });

  test("that took longer to get than it lasts is not used", async () => {
    const race = await createRace();
    const { world, store } = race;
    await world.clock.advance(hour);
    const other = race.another();
    let isSlow = true;
    store.latency = (step) => {
      const now = isSlow && step === "compareAndSet";
      if (now) isSlow = false;
      return now ? 20_000 : 0;
    };
    const slow = race.calls(10);
    await race.until(() => !isSlow);
    await race.drive(sleep(world.clock, 10_500));
    // By now the first has the lease without knowing, and it has ended soon after.
    const quick = race.calls(10, [other]);
    assertEquals(await race.drive(Promise.all([slow, quick])), [Array(10).fill(200), Array(10).fill(200)]);
    assertOnce(race, []);
  });

  test("whose holder is held up beyond it: what it got late is kept, where it is the newest", async () => {
    const race = await createRace({}, { server: { refresh: "stays" } });
    const { world, first } = race;
    await world.clock.advance(hour);
    const { fault, release } = gate();
    world.fault("/token", fault);
    const stuck = race.another({ timeout: 100_000 });
    const late = stuck.call();
    await race.asked();
    // Its own lease lasts longer, so those who wait go by theirs.
    const quick = race.calls(10, [first]);
    assertEquals(await race.drive(quick), Array(10).fill(200));
    release();
    assertEquals([await race.drive(late), world.person.visits.length], [200, 0]);
    assertEquals(await race.calls(5, [first, stuck]), Array(10).fill(200));
    assertEquals(race.stored()?.["lease"], undefined);
  });
});

describe("a clock that jumps", () => {
  for (const jump of [-hour, hour]) {
    test(`by ${jump / hour} h between two calls: all succeed, nobody is asked`, async () => {
      const race = await createRace();
      const { world } = race;
      const clock = jumping(world);
      const program = race.another({ clock });
      assertEquals(await program.call(), 200);
      clock.offset = jump;
      assertEquals(await race.drive(race.calls(10, [program])), Array(10).fill(200));
      await world.clock.advance(hour);
      assertEquals(await race.drive(race.calls(10, [program])), Array(10).fill(200));
      clock.offset = 0;
      assertEquals(await race.drive(race.calls(10, [program, race.another()])), Array(20).fill(200));
      assertEquals([world.person.visits.length, new Set(race.sent()).size], [0, race.sent().length]);
      assertNewest(race);
    });

    test(`by ${jump / hour} h in the middle of a refresh: nothing hangs, nobody is asked`, async () => {
      const race = await createRace();
      const { world } = race;
      await world.clock.advance(hour);
      const clock = jumping(world);
      const { fault, release } = gate();
      world.fault("/token", fault);
      const program = race.another({ clock });
      const calls = race.calls(10, [program]);
      await race.asked();
      clock.offset = jump;
      release();
      assertOnce(race, await race.drive(calls));
    });
  }

  test("by -1 h after the refresh failed and its lease could not be given back: it is waited for 15 s", async () => {
    const race = await createRace();
    const { world } = race;
    await world.clock.advance(hour);
    const clock = jumping(world);
    const program = race.another({ clock });
    world.fault("/token", networkFailure);
    race.store.fails = (step) => step === "compareAndSet" && world.log.tokens().length > 0 ? "before" : false;
    await assertRejects(() => race.drive(program.call()));
    race.store.fails = () => false;
    clock.offset = -hour;
    const began = world.clock.monotonic();
    assertEquals(await race.drive(race.calls(10, [program])), Array(10).fill(200));
    assert(world.clock.monotonic() - began < 17_000);
    assertEquals(world.person.visits.length, 0);
  });
});
