/** What an authorization server refuses, and what follows. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, test } from "node:test";
import { AuthorizationRequiredError } from "../../../src/protocol/errors.ts";
import { gate, lostReply, networkFailure } from "../world/faults.ts";
import { resourceUrl } from "../world/world.ts";
import { assertNewest, assertOnce, createRace } from "./race.ts";

const hour = 3_600_000;

function idOf({ pending }: AuthorizationRequiredError): unknown {
  return typeof pending === "object" && pending !== null && "id" in pending ? pending["id"] : undefined;
}

describe("a refresh token that is refused", () => {
  for (const count of [1, 10, 100]) {
    test(`${count} calls: it is sent once, its record goes, one sign-in`, async () => {
      const race = await createRace();
      const { world } = race;
      await world.clock.advance(hour);
      for (const token of world.server.issued.refresh.values()) token.isRevoked = true;
      assertEquals(await race.calls(count), Array(count).fill(200));
      assertEquals([race.sent().length, world.person.visits.length], [1, 1]);
      assertNewest(race);
    });
  }

  test("where nobody is there: all calls say so, with one sign-in that waits", async () => {
    const race = await createRace();
    const { world } = race;
    await world.clock.advance(hour);
    for (const token of world.server.issued.refresh.values()) token.isRevoked = true;
    const program = race.another({ authorize: undefined });
    const failed = await Promise.allSettled(Array.from({ length: 10 }, () => program.call()));
    const ids = failed.map((one) => {
      assert(one.status === "rejected" && one.reason instanceof AuthorizationRequiredError, JSON.stringify(one));
      return idOf(one.reason);
    });
    assertEquals(new Set(ids).size, 1);
    const again = await assertRejects(() => program.call(), AuthorizationRequiredError);
    assertEquals([idOf(again), race.sent().length, race.stored()], [ids[0], 1, undefined]);
    await program.oauth.finishAuth(await world.person.follow(again.authorizationUrl));
    assertEquals(await race.calls(5, [program, race.first]), Array(10).fill(200));
    assertNewest(race);
  });

  test("that was replaced in the meantime: nothing is deleted, and nobody is asked", async () => {
    const race = await createRace();
    const { world, store, first } = race;
    await world.clock.advance(hour);
    const { fault, release } = gate();
    world.fault("/token", fault);
    for (const token of world.server.issued.refresh.values()) token.isRevoked = true;
    const calls = race.calls(10);
    await race.asked();
    // Somebody signs in while the refusal is on its way.
    await race.another().oauth.signIn(resourceUrl);
    const before = new Map(store.texts);
    release();
    assertEquals(await race.drive(calls), Array(10).fill(200));
    assertEquals([race.sent().length, world.person.visits.length], [1, 1]);
    assertEquals(store.texts, before);
    assertEquals(await first.call(), 200);
    assertNewest(race);
  });
});

describe("a client that is not known any more", () => {
  test("registers anew, and nothing is deleted before", async () => {
    const race = await createRace();
    const { world } = race;
    await world.clock.advance(hour);
    const before = race.stored();
    world.server.clients.known.clear();
    let atSignIn: unknown;
    const program = race.another({
      authorize: (request) => {
        atSignIn = race.stored();
        return world.person.authorize(request);
      },
    });
    assertEquals(await race.calls(10, [program]), Array(10).fill(200));
    assertEquals(atSignIn, before);
    assertEquals([world.log.of("/register").length, world.person.visits.length], [1, 1]);
    assertNewest(race);
  });

  test("registers once, however often the old one is refused meanwhile", async () => {
    const race = await createRace();
    const { world } = race;
    await world.clock.advance(hour);
    world.server.clients.known.clear();
    const program = race.another({ authorize: undefined });
    for (let round = 0; round < 3; round++) await assertRejects(() => program.call(), AuthorizationRequiredError);
    await assertRejects(() => race.another({ authorize: undefined }).call(), AuthorizationRequiredError);
    assertEquals(world.log.of("/register").length, 1);
    const error = await assertRejects(() => program.call(), AuthorizationRequiredError);
    await program.oauth.finishAuth(await world.person.follow(error.authorizationUrl));
    assertEquals(await race.calls(5, [program, race.first]), Array(10).fill(200));
    assertEquals(world.log.of("/register").length, 1);
  });
});

describe("a refresh whose reply is lost", () => {
  test("at a server that forgives: the next call gets the tokens", async () => {
    const race = await createRace({}, { server: { refresh: "stays" } });
    const { world } = race;
    await world.clock.advance(hour);
    world.fault("/token", lostReply);
    const failed = await Promise.allSettled(Array.from({ length: 10 }, () => race.first.call()));
    assertEquals(failed.filter(({ status }) => status === "fulfilled"), []);
    assertEquals(await race.calls(10), Array(10).fill(200));
    assertEquals([race.sent().length, world.person.visits.length], [2, 0]);
    assertNewest(race);
  });

  test("at a server that does not: one call fails, then one sign-in", async () => {
    const race = await createRace();
    const { world } = race;
    await world.clock.advance(hour);
    world.fault("/token", lostReply);
    const failed = await Promise.allSettled(Array.from({ length: 10 }, () => race.first.call()));
    assertEquals(failed.filter(({ status }) => status === "fulfilled"), []);
    assert(race.stored());
    assertEquals(await race.calls(10), Array(10).fill(200));
    assertEquals([race.sent().length, world.person.visits.length], [2, 1]);
    assertNewest(race);
  });

  test("and a request that was never sent: the next call refreshes", async () => {
    const race = await createRace();
    const { world } = race;
    await world.clock.advance(hour);
    world.fault("/token", networkFailure);
    await assertRejects(() => race.first.call());
    world.log.clear();
    assertOnce(race, await race.calls(10));
  });
});

describe("a sign-out in the middle of a refresh", () => {
  for (const when of ["before", "after"]) {
    test(`leaves no good token behind (${when} the server has rotated)`, async () => {
      const race = await createRace();
      const { world, first } = race;
      await world.clock.advance(hour);
      const { fault, release } = gate();
      world.fault(
        "/token",
        when === "after" ? fault : async (seen, go) => {
          await fault(seen, () => Promise.resolve(new Response()));
          return await go();
        },
      );
      const caller = new AbortController();
      const call = assertRejects(() => first.call(caller.signal), Error, "left");
      await race.asked();
      caller.abort(new Error("left"));
      await call;
      const out = first.oauth.signOut(resourceUrl);
      await world.clock.advance(100);
      release();
      assertEquals([await out, race.stored()], [{ revoked: true }, undefined]);
      const { access, refresh } = world.server.issued;
      const good = [...access.values(), ...refresh.values()].filter((token) => world.server.issued.isGood(token));
      assertEquals(good, []);
      assertEquals(world.person.visits.length, 0);
    });
  }

  test("of another program: the tokens are not kept, and the next call asks", async () => {
    const race = await createRace();
    const { world } = race;
    await world.clock.advance(hour);
    const { fault, release } = gate();
    world.fault("/token", fault);
    const calls = race.calls(10);
    await race.asked();
    await race.another().oauth.signOut(resourceUrl);
    release();
    assertEquals(await race.drive(calls), Array(10).fill(200));
    assertEquals([race.sent().length, world.person.visits.length], [1, 1]);
    assertNewest(race);
  });
});

describe("a sign-in in the middle of a refresh", () => {
  for (const who of ["this program", "another"]) {
    test(`its tokens stay (${who})`, async () => {
      const race = await createRace();
      const { world, first } = race;
      await world.clock.advance(hour);
      const { fault, release } = gate();
      world.fault("/token", fault);
      const calls = race.calls(10);
      await race.asked();
      await (who === "another" ? race.another() : first).oauth.signIn(resourceUrl);
      release();
      assertEquals(await race.drive(calls), Array(10).fill(200));
      assertEquals([race.sent().length, world.person.visits.length], [1, 1]);
      const newest = [...world.server.issued.refresh.values()].filter(({ isUsed }) => !isUsed);
      assert(newest.some(({ token }) => token === race.stored()?.["refreshToken"]));
      world.log.clear();
      assertEquals(await race.calls(10), Array(10).fill(200));
      assertEquals(world.log.tokens(), []);
    });
  }
});
