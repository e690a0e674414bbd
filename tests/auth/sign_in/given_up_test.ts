/** A sign-in that its caller gives up ends for everybody who has a part in it. */
import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { clientCredentials, createOAuth, deviceCode } from "../../../src/auth/mod.ts";
import { deferred } from "../../servers/core/wire.ts";
import { resourceUrl } from "../world/world.ts";
import { createParty } from "./parties.ts";

describe("a sign-in that is given up", () => {
  test("ends the wait for a person; the next one is a new one", async () => {
    const seen: (AbortSignal | undefined)[] = [];
    let isThere = false;
    const party = await createParty({
      authorize: async (request) => {
        if (isThere) return await party.world.person.authorize(request);
        seen.push(request.signal);
        stop.abort(new Error("enough"));
        request.signal?.throwIfAborted();
        await new Promise(() => {});
        throw new Error("nobody comes here");
      },
    });
    const stop = new AbortController();
    await assertRejects(() => party.oauth.signIn(resourceUrl, { signal: stop.signal }), Error, "enough");
    assertEquals(seen.map((signal) => signal?.aborted), [true]);
    isThere = true;
    assertEquals((await party.oauth.signIn(resourceUrl)).server, resourceUrl);
  });

  test("is asked for once by calls at the same time, and counts as one step-up", async () => {
    let visits = 0;
    const party = await createParty({
      stepUps: 1,
      authorize: async (request) => {
        if (visits++) await party.world.clock.advance(5_000);
        return await party.world.person.authorize(request);
      },
    }, { resource: { needs: ({ name }) => name === "write" ? ["files:write"] : [] } });
    await using client = await party.open();
    const calls = Array.from({ length: 4 }, () => client.callTool("write", { text: "a" }));
    assertEquals((await Promise.all(calls)).map(({ isError = false }) => isError), [false, false, false, false]);
    assertEquals(visits, 2);
  });

  for (const who of ["the caller", "the person"] as const) {
    test(`counts as a step-up when the person refused, not when the caller left (${who})`, async () => {
      const seen: boolean[] = [];
      let isThere = true;
      let stop = new AbortController();
      const party = await createParty({
        stepUps: 1,
        authorize: async (request) => {
          seen.push(isThere);
          if (isThere) return await party.world.person.authorize(request);
          if (who === "the person") throw new Error("enough");
          stop.abort(new Error("enough"));
          return await new Promise(() => {});
        },
      }, { resource: { needs: ({ name }) => name === "write" ? ["files:write"] : [] } });
      await using client = await party.open();
      isThere = false;
      for (let count = 0; count < 3; count++) {
        stop = new AbortController();
        const words = who === "the person" && count ? "403" : "enough";
        await assertRejects(() => client.callTool("write", { text: "a" }, { signal: stop.signal }), Error, words);
        // The person is not sent away at once: who calls again may come back to them.
        await party.world.clock.advance(2_000);
      }
      isThere = true;
      if (who === "the person") return assertEquals(seen, [true, false]);
      const { isError } = await client.callTool("write", { text: "a" });
      assertEquals([isError ?? false, seen], [false, [true, false, false, false, true]]);
    });
  }

  test("counts as a step-up when the person refused who was left waiting, whoever began it", async () => {
    let visits = 0;
    const stop = new AbortController();
    const party = await createParty({
      stepUps: 1,
      authorize: async (request) => {
        if (!visits++) return await party.world.person.authorize(request);
        await party.world.clock.advance(100);
        stop.abort(new Error("enough"));
        await party.world.clock.advance(100);
        throw new Error("refused");
      },
    }, { resource: { needs: ({ name }) => name === "write" ? ["files:write"] : [] } });
    await using client = await party.open();
    const write = (signal?: AbortSignal) => client.callTool("write", { text: "a" }, { signal });
    const [first, second] = [write(stop.signal), write()];
    await assertRejects(() => first, Error, "enough");
    await assertRejects(() => second, Error, "refused");
    await assertRejects(() => write(), Error, "403");
    assertEquals(visits, 2);
  });

  test("asks no server for the answer of another device any more", async () => {
    const stop = new AbortController();
    let shown: AbortSignal | undefined;
    const grant = deviceCode({ onCode: ({ signal }) => void (shown = signal) });
    const { world, oauth } = await createParty({ grant });
    const signingIn = oauth.signIn(resourceUrl, { signal: stop.signal });
    signingIn.catch(() => {});
    for (let round = 0; round < 6; round++) await world.clock.advance(5_000);
    const polls = () => world.log.tokens().length;
    assert(polls() > 0, "it was never asked");
    assertEquals(shown?.aborted, false);
    stop.abort(new Error("enough"));
    await assertRejects(() => signingIn, Error, "enough");
    await world.clock.advance(1);
    const before = polls();
    for (let round = 0; round < 6; round++) await world.clock.advance(5_000);
    assertEquals([polls() - before, shown?.aborted], [0, true]);
  });

  test("calls off what a grant asks of the authorization server", async () => {
    const [stop, asked] = [new AbortController(), deferred<AbortSignal | null | undefined>()];
    const grant = clientCredentials({ clientId: "nightly", clientSecret: "s3cret of nightly" });
    const { world } = await createParty();
    const oauth = createOAuth({
      grant,
      clock: world.clock,
      fetch: (url, init) => {
        if (!String(url).endsWith("/token")) return world.fetch(url, init);
        asked.resolve(init.signal);
        return new Promise<Response>(() => {});
      },
    });
    const signingIn = oauth.signIn(resourceUrl, { signal: stop.signal });
    signingIn.catch(() => {});
    const signal = await asked.promise;
    assertEquals(signal?.aborted, false);
    stop.abort(new Error("enough"));
    await assertRejects(() => signingIn, Error, "enough");
    await world.clock.advance(1);
    assertEquals(signal?.aborted, true);
  });
});
