/** A person takes longer than a call may: `connect` of Bun, Deno and Node waits for them. */
import { describe, test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import { deviceCode } from "../../../src/auth/mod.ts";
import { createConnect } from "../../../src/entry/connect.ts";
import { TimeoutError } from "../../../src/protocol/errors.ts";
import { resourceUrl } from "../world/world.ts";
import { createParty, type Party } from "./parties.ts";

const connect = createConnect(() => ({}), () => Promise.resolve(["93.184.216.34"]));

/** A party whose person takes four minutes, or never comes. */
async function createSlow(comes = true): Promise<Party> {
  const party: Party = await createParty({
    authorize: async (request) => {
      for (let seconds = 0; seconds < 240; seconds += 5) await party.world.clock.advance(5_000);
      if (!comes) throw new TypeError("the person went home");
      return await party.world.person.authorize(request);
    },
  });
  return party;
}
const optionsOf = ({ world, oauth }: Party) => {
  return { auth: oauth, fetch: world.fetch, clock: world.clock, cache: false, stream: false };
};

describe("a person who takes four minutes with another device", () => {
  test("is shown one code, however many ask for the sign-in meanwhile", async () => {
    const codes: string[] = [];
    const grant = deviceCode({ onCode: ({ userCode }) => void codes.push(userCode) });
    const { world, oauth } = await createParty({ grant, authorize: undefined });
    const first = oauth.signIn(resourceUrl);
    for (let seconds = 0; seconds < 240; seconds += 5) await world.clock.advance(5_000);
    const second = oauth.signIn(resourceUrl);
    await world.clock.advance(5_000);
    world.server.devices.decide(String(codes[0]), "approved");
    const [one, other] = await world.clock.until(Promise.all([first, second]));
    assertEquals([one, codes.length, world.log.count("/device")], [other, 1, 1]);
  });
});

describe("a person who takes four minutes", () => {
  test("is waited for, and asked once", async () => {
    const party = await createSlow();
    await using client = await connect(resourceUrl, optionsOf(party));
    assertEquals([(await client.listTools()).tools.length, party.world.person.visits.length], [2, 1]);
  });

  test("and does not come: what went wrong is told", async () => {
    const party = await createSlow(false);
    await assertRejects(() => connect(resourceUrl, optionsOf(party)), TypeError, "the person went home");
  });

  test("is not waited for by who gives up", async () => {
    const stop = new AbortController();
    const party: Party = await createParty({
      authorize: async () => {
        for (let seconds = 0; seconds < 60; seconds += 5) await party.world.clock.advance(5_000);
        stop.abort(new Error("enough"));
        return await new Promise(() => {});
      },
    });
    await assertRejects(() => connect(resourceUrl, { ...optionsOf(party), signal: stop.signal }), Error, "enough");
  });

  test("a server that is slow by itself is no person", async () => {
    const party = await createParty();
    party.world.fault("/mcp", async () => {
      await party.world.clock.advance(40_000);
      return await new Promise(() => {});
    }, 9);
    await assertRejects(() => connect(resourceUrl, optionsOf(party)), TimeoutError);
  });
});
