/** Tokens are renewed before they end, and what fails then is no harm. */
import { assert, assertEquals } from "@std/assert";
import { describe, test } from "node:test";
import { answer, lostReply, networkFailure, notJson, refusal, silence } from "../world/faults.ts";
import { resourceUrl } from "../world/world.ts";
import { assertNewest, assertOnce, createRace } from "./race.ts";

describe("ahead of its end", () => {
  for (const lifetime of [1, 30, 90, 300, 3_600]) {
    test(`a token of ${lifetime} s is renewed once, and never refused`, async () => {
      const race = await createRace({}, { server: { lifetime } });
      const margin = Math.min(lifetime / 2, 60) * 1_000;
      await race.world.clock.advance(lifetime * 1_000 - margin - 15_000 > 0 ? lifetime * 1_000 - margin - 15_001 : 0);
      assertEquals(await race.calls(10), Array(10).fill(200));
      assertEquals(race.sent(), []);
      const left = lifetime > 1 ? 1_000 : 100;
      await race.world.clock.advance(lifetime * 1_000 - left - (race.world.clock.now() - signedInAt(race.world)));
      assertOnce(race, await race.calls(10));
      assertEquals(race.world.log.of("/mcp").filter(({ status }) => status === 401), []);
    });
  }

  test("the moment differs from program to program, between 60 and 75 s", async () => {
    const moments = new Set<number>();
    for (let index = 0; index < 8; index++) {
      const race = await createRace();
      const { renewAt, expiresAt } = race.stored() ?? {};
      const early = Number(expiresAt) - Number(renewAt);
      assert(early >= 60_000 && early <= 75_000, String(early));
      moments.add(early);
    }
    assert(moments.size > 4);
  });

  test("a token whose end is not told is used until it is refused", async () => {
    const race = await createRace({}, { server: { expiresIn: "absent" } });
    const { world } = race;
    await world.clock.advance(200_000);
    assertEquals(await race.calls(10), Array(10).fill(200));
    assertEquals(race.sent(), []);
    await world.clock.advance(200_000);
    assertOnce(race, await race.calls(10));
  });

  test("a token whose server says that it ends at once is good until it is refused: nobody would ask for one of no use", async () => {
    const race = await createRace({}, { server: { tokenReply: { expires_in: 0 } } });
    for (let index = 1; index < 4; index++) assertEquals(await race.first.call(), 200);
    assertEquals(race.sent().length, 0);
    race.world.server.issued.revokeAccess();
    assertEquals(await race.first.call(), 200);
    assertEquals([race.sent().length, race.world.person.visits.length], [1, 0]);
  });

  const faults = {
    "the connection breaks": networkFailure,
    "500": answer(500),
    "503 with JSON": refusal("temporarily_unavailable", 503),
    "429": refusal("slow_down", 429),
    "a page": notJson,
    "nothing": silence,
  };
  for (const [name, fault] of Object.entries(faults)) {
    test(`a refresh that fails while the token is good: it is used, and the next call tries again (${name})`, async () => {
      const race = await createRace();
      const { world } = race;
      await world.clock.advance(245_000);
      world.fault("/token", fault, 3);
      for (let round = 1; round < 4; round++) {
        assertEquals(await race.drive(race.calls(10)), Array(10).fill(200));
        assertEquals(race.sent().length, round);
      }
      assertEquals(world.log.of("/mcp").filter(({ status }) => status === 401), []);
      assertEquals(await race.drive(race.calls(10)), Array(10).fill(200));
      assertEquals([race.sent().length, world.person.visits.length], [4, 0]);
      assertNewest(race);
    });

    test(`a refresh that fails when the token is over: the calls fail, nothing is deleted (${name})`, async () => {
      const race = await createRace();
      const { world } = race;
      await world.clock.advance(3_600_000);
      const before = race.stored();
      world.fault("/token", fault);
      const failed = await race.drive(Promise.allSettled(Array.from({ length: 10 }, () => race.first.call())));
      assertEquals(failed.filter(({ status }) => status === "fulfilled"), []);
      for (const one of failed) assert(one.status === "rejected" && one.reason.delivery === "not-sent", String(one));
      assertEquals(race.stored(), before);
      assertEquals(world.log.of("/mcp").length, 0);
      assertEquals(await race.calls(10), Array(10).fill(200));
      assertEquals([race.sent().length, world.person.visits.length], [2, 0]);
      assertNewest(race);
    });
  }

  test("a refresh token that is refused: the token is used to its end, then somebody is asked once", async () => {
    const race = await createRace();
    const { world } = race;
    await world.clock.advance(245_000);
    for (const token of world.server.issued.refresh.values()) token.isRevoked = true;
    for (let round = 0; round < 3; round++) assertEquals(await race.calls(10), Array(10).fill(200));
    assertEquals([race.sent().length, world.person.visits.length], [1, 0]);
    assertEquals((await race.first.oauth.status(resourceUrl))?.refreshable, false);
    await world.clock.advance(60_000);
    assertEquals(await race.calls(10), Array(10).fill(200));
    assertEquals([race.sent().length, world.person.visits.length], [1, 1]);
    assertNewest(race);
  });

  test("a client that is not known any more: the token is used meanwhile", async () => {
    const race = await createRace();
    const { world } = race;
    await world.clock.advance(245_000);
    world.server.clients.known.clear();
    assertEquals(await race.calls(10), Array(10).fill(200));
    assertEquals(world.person.visits.length, 0);
  });

  test("a lost reply while the token is good: it is used to its end", async () => {
    const race = await createRace();
    const { world } = race;
    await world.clock.advance(245_000);
    world.fault("/token", lostReply);
    assertEquals(await race.calls(10), Array(10).fill(200));
    assertEquals([race.sent().length, world.person.visits.length], [1, 0]);
  });
});

function signedInAt(
  { server }: { readonly server: { readonly issued: { readonly codes: Map<string, unknown> } } },
): number {
  const [code] = [...server.issued.codes.values()];
  const expiresAt = typeof code === "object" && code !== null ? Number(Reflect.get(code, "expiresAt")) : NaN;
  return expiresAt - 60_000;
}
