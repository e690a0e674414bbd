/** Many calls of one program at the moment at which its token is not good any more. */
import { assertEquals, assertRejects } from "@std/assert";
import { describe, test } from "node:test";
import { delay, gate, networkFailure } from "../world/faults.ts";
import { resourceUrl } from "../world/world.ts";
import { assertNewest, assertOnce, createRace, failing, sleep, type StoreStep } from "./race.ts";

const hour = 3_600_000;
const isTokens = (key: string): boolean => key.startsWith("oauth.tokens.");

describe("one process", () => {
  for (const count of [10, 100]) {
    test(`${count} calls with an expired token: one refresh`, async () => {
      const race = await createRace();
      await race.world.clock.advance(hour);
      assertOnce(race, await race.calls(count));
      assertEquals(race.world.log.of("/mcp").length, count);
    });

    test(`${count} calls with a token that was revoked early: one refresh`, async () => {
      const race = await createRace();
      race.world.server.issued.revokeAccess();
      assertOnce(race, await race.calls(count));
      assertEquals(race.world.log.of("/mcp").length, 2 * count);
    });

    test(`${count} calls of a program that has just started: one refresh, and none is sent without a token`, async () => {
      const race = await createRace();
      await race.world.clock.advance(hour);
      assertOnce(race, await race.calls(count, [race.another()]));
      assertEquals(race.world.log.of("/mcp").length, count);
    });
  }

  test("half of 100 calls hear late that the token was revoked", async () => {
    const race = await createRace();
    race.world.server.issued.revokeAccess();
    const { fault, release } = gate();
    race.world.fault("/mcp", fault, 50);
    const all = race.calls(100);
    await race.until(() => race.world.log.of("/mcp").length === 150);
    release();
    assertOnce(race, await all);
    assertEquals(race.world.log.of("/mcp").length, 200);
  });

  test("half of 20 calls hear late that a new token was refused too: one refresh, one sign-in", async () => {
    const race = await createRace();
    const { world } = race;
    world.server.issued.revokeAccess();
    const { fault, release } = gate();
    let refused = 0;
    const isSecond = ({ headers }: { readonly headers: Headers }): boolean => {
      const [, second] = world.server.issued.access.keys();
      return second !== undefined && headers.get("authorization") === `Bearer ${second}`;
    };
    world.fault(isSecond, async (seen) => {
      if (refused++ % 2) await fault(seen, () => Promise.resolve(new Response()));
      return new Response(null, { status: 401 });
    }, Infinity);
    const all = race.calls(20);
    await race.until(() => refused === 20 && world.person.visits.length === 1);
    await race.drive(sleep(world.clock, 1_000));
    release();
    assertEquals(await all, Array(20).fill(200));
    assertEquals([world.log.tokens("refresh_token").length, world.person.visits.length], [1, 1]);
    assertNewest(race);
  });

  test("calls with several tokens that are over, one after another", async () => {
    const race = await createRace();
    const { world, first } = race;
    const gates = [gate(), gate(), gate()];
    const late: Promise<number>[] = [];
    for (const { fault } of gates) {
      world.fault("/mcp", fault, 1);
      const seen = world.log.all.length;
      late.push(first.call());
      await race.until(() => world.log.all.length > seen);
      world.server.issued.revokeAccess();
      late.push(first.call());
      await race.until(() => world.log.all.at(-1)?.status === 200);
    }
    for (const { release } of gates) release();
    assertEquals(await Promise.all(late), Array(6).fill(200));
    assertEquals([race.sent().length, new Set(race.sent()).size, world.person.visits.length], [3, 3, 0]);
    assertNewest(race);
  });

  for (const lifetime of [1, 2]) {
    test(`a token that ends on its way is renewed again (${lifetime} s)`, async () => {
      const race = await createRace({}, { server: { lifetime } });
      const { world, first } = race;
      await world.clock.advance(hour);
      world.fault("/mcp", delay(world.clock, lifetime * 1_000 + 500), 2);
      assertEquals(await race.drive(first.call()), 200);
      assertEquals([race.sent().length, world.person.visits.length], [3, 0]);
      assertNewest(race);
    });
  }
});

describe("one process whose callers give up", () => {
  for (const who of ["the first", "those in the middle", "all but the last"]) {
    test(`${who}: nothing ends for the others`, async () => {
      const race = await createRace();
      const { world, first } = race;
      await world.clock.advance(hour);
      const { fault, release } = gate();
      world.fault("/token", fault);
      const leaves = (index: number) =>
        who === "the first" ? index === 0 : who === "all but the last" ? index < 9 : index > 3 && index < 7;
      const callers = Array.from({ length: 10 }, () => new AbortController());
      const calls = callers.map(({ signal }) => first.call(signal));
      const gone = calls.filter((_, index) => leaves(index)).map((call) => assertRejects(() => call, Error, "left"));
      await race.asked();
      callers.forEach((caller, index) => leaves(index) && caller.abort(new Error("left")));
      await Promise.all(gone);
      release();
      const stay = await Promise.all(calls.filter((_, index) => !leaves(index)));
      assertOnce(race, stay);
    });
  }

  test("all of them: what was got is kept all the same", async () => {
    const race = await createRace();
    const { world, first } = race;
    await world.clock.advance(hour);
    const { fault, release } = gate();
    world.fault("/token", fault);
    const caller = new AbortController();
    const call = assertRejects(() => first.call(caller.signal), Error, "left");
    await race.asked();
    caller.abort(new Error("left"));
    await call;
    release();
    await race.until(() => race.stored()?.["lease"] === undefined);
    assertOnce(race, await race.calls(10));
  });

  test("before anything happens: nothing is asked", async () => {
    const race = await createRace();
    await race.world.clock.advance(hour);
    await assertRejects(() => race.first.call(AbortSignal.abort(new Error("left"))), Error, "left");
    await race.world.clock.settle();
    assertEquals(race.world.log.of("/mcp").length, 0);
    assertEquals(await race.calls(3), [200, 200, 200]);
  });
});

describe("one process with a store", () => {
  test("that is slow", async () => {
    const race = await createRace();
    await race.world.clock.advance(hour);
    race.store.latency = () => 800;
    assertOnce(race, await race.drive(race.calls(10)));
  });

  test("that cannot compare", async () => {
    const race = await createRace();
    await race.world.clock.advance(hour);
    assertOnce(race, await race.calls(100, [race.another({ store: race.store.withoutComparing() })]));
  });

  for (const step of ["get", "compareAndSet"] satisfies StoreStep[]) {
    for (const when of ["before", "after"] as const) {
      test(`that fails once, at the ${step} (${when} it is done): the next call tries again`, async () => {
        const race = await createRace();
        await race.world.clock.advance(hour);
        race.store.fails = failing(1, (done) => done === step, when);
        await race.drive(Promise.allSettled([race.calls(10)]));
        assertOnce(race, await race.drive(race.calls(10)));
      });
    }
  }

  for (const times of [1, 3]) {
    for (const when of ["before", "after"] as const) {
      test(`that does not take the new pair ${times} times (${when} it is done): all succeed`, async () => {
        const race = await createRace();
        await race.world.clock.advance(hour);
        let isNew = false;
        race.world.fault("/token", async (_seen, go) => {
          const reply = await go();
          isNew = true;
          return reply;
        });
        race.store.fails = failing(times, (step, key) => isNew && step === "compareAndSet" && isTokens(key), when);
        assertOnce(race, await race.drive(race.calls(10)));
      });
    }
  }

  test("that is down for a minute when there is a new pair: it is used, and kept when the store is back", async () => {
    const race = await createRace();
    const { world, store } = race;
    await world.clock.advance(hour);
    let isDown = false;
    world.fault("/token", async (_seen, go) => {
      const reply = await go();
      isDown = true;
      return reply;
    });
    store.fails = () => isDown ? "before" : false;
    assertEquals(await race.drive(race.calls(10)), Array(10).fill(200));
    await world.clock.advance(60_000);
    assertEquals(await race.drive(race.calls(2)), [200, 200]);
    isDown = false;
    assertOnce(race, await race.drive(race.calls(2)));
    await world.clock.advance(hour);
    assertOnce(race, await race.drive(race.calls(10, [race.another()])), 2);
  });

  test("that cannot be read while the token is good a while longer: it is used", async () => {
    const race = await createRace();
    await race.world.clock.advance(290_000);
    race.store.fails = () => "before";
    assertEquals(await race.drive(race.calls(10)), Array(10).fill(200));
    assertEquals(race.world.log.tokens().length, 0);
    race.store.fails = () => false;
    assertOnce(race, await race.calls(10));
  });

  test("that fails while a server is away: what failed is told, and nothing is held", async () => {
    const race = await createRace();
    const { world, store } = race;
    await world.clock.advance(hour);
    world.fault("/token", networkFailure);
    store.fails = failing(1, () => world.log.tokens().length > 0);
    const error = await assertRejects(() => race.drive(race.first.call()), Error);
    assertEquals(error.message.includes("the disk"), false, error.message);
    // Its own lease was left behind.
    assertEquals(await race.drive(race.calls(10), 40_000), Array(10).fill(200));
    assertEquals(world.person.visits.length, 0);
    assertNewest(race);
  });

  test("that is slow while a sign-in ends: nobody is asked twice", async () => {
    const race = await createRace();
    const { world, store, first } = race;
    await first.oauth.signOut(resourceUrl);
    world.log.clear();
    const program = race.another();
    const { fault, release } = gate();
    world.fault("/mcp", fault, 1);
    const late = program.call();
    const early = program.call();
    assertEquals(await race.drive(early), 200);
    let slow = true;
    store.latency = (step) => step === "get" && slow ? 3_000 : 0;
    release();
    await race.drive(sleep(world.clock, 500));
    slow = false;
    assertEquals([await race.drive(late), world.person.visits.length], [200, 1]);
  });

  test("that fails in the middle of what a sign-in keeps: no tokens are left that nobody finds", async () => {
    const race = await createRace();
    const { store, first } = race;
    await first.oauth.signOut(resourceUrl);
    for (const prefix of ["oauth.server.", "oauth.tokens."]) {
      store.fails = failing(1, (step, key) => step !== "get" && key.startsWith(prefix));
      await assertRejects(() => race.drive(race.another().call()), Error);
      assertEquals([...store.texts.keys()].filter(isTokens), [], prefix);
    }
    assertEquals(await race.drive(race.another().call()), 200);
  });
});

describe("one process that signs out", () => {
  test("while somebody looks at the status: no token is sent afterwards", async () => {
    const race = await createRace();
    const { store, first: { oauth } } = race;
    const { get } = store;
    // The look has read the record, and hears of it late.
    let release = (): void => {};
    const late = new Promise<void>((resolve) => release = resolve);
    let isHeld = false;
    store.get = async (key) => {
      const text = await get(key);
      if (!isTokens(key) || isHeld) return text;
      isHeld = true;
      await late;
      return text;
    };
    const looking = oauth.status(resourceUrl);
    await race.until(() => isHeld);
    await oauth.signOut(resourceUrl);
    release();
    assertEquals(await looking, undefined);
    assertEquals(await oauth.headers(resourceUrl), {});
  });
});
