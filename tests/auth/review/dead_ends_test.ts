/** Nobody is stuck: what is refused for good, or never ends, leads on. */
import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { deviceCode } from "../../../src/auth/mod.ts";
import { AuthorizationError } from "../../../src/protocol/errors.ts";
import { createParty } from "../sign_in/parties.ts";
import { answer, answerJson, type Fault, refusal } from "../world/faults.ts";
import { resourceUrl } from "../world/world.ts";

/** Lets what is under way go on, until something is so. */
async function until(isSo: () => boolean): Promise<void> {
  for (let turn = 0; turn < 500 && !isSo(); turn++) await settle();
  assert(isSo());
}

const settle = () => new Promise<void>((resolve) => setTimeout(resolve, 10));

describe("dead ends", () => {
  test("a client that the server has forgotten is registered anew with the next sign-in", async () => {
    const { world, oauth } = await createParty();
    world.fault("/token", refusal("invalid_client", 401));
    await assertRejects(() => oauth.signIn(resourceUrl), AuthorizationError);
    await oauth.signIn(resourceUrl);
    assertEquals(world.log.count("/register"), 2);
  });

  for (
    const [code, status] of [["bad_refresh_token", 200], ["invalid_request", 400], ["access_denied", 403]] as const
  ) {
    test(`a refresh that is refused for good with "${code}" leads to a sign-in`, async () => {
      const { world, open } = await createParty();
      await using client = await open();
      await world.clock.advance(3_600_000);
      world.fault(({ form }) => form.get("grant_type") === "refresh_token", refusal(code, status), 9);
      await client.listTools();
      assertEquals(world.person.visits.length, 2);
    });
  }

  const withoutCode: Readonly<Record<string, Fault>> = {
    "in words of its own": answerJson(
      { status: "BAD_REFRESH_TOKEN", message: "missing or invalid refresh token" },
      400,
    ),
    "with an object for a code": answerJson({ error: { type: "invalid_request_error", message: "expired" } }, 401),
    "with a text": answer(400, "Invalid refresh token"),
    "with nothing": answer(401),
    "since its endpoint is gone": answer(404, "<html>"),
  };
  for (const [how, fault] of Object.entries(withoutCode)) {
    test(`a refresh that is refused ${how} leads to a sign-in`, async () => {
      const { world, open } = await createParty();
      await using client = await open();
      await world.clock.advance(3_600_000);
      world.fault(({ form }) => form.get("grant_type") === "refresh_token", fault, 9);
      await client.listTools();
      assertEquals(world.person.visits.length, 2);
    });
  }

  for (const code of [undefined, "temporarily_unavailable"]) {
    test(`a token endpoint that is away at the first sign-in, with the code ${code}: one page, and each call says why`, async () => {
      const { world, oauth, open } = await createParty();
      let isAway = true;
      world.fault("/token", (_, next) => {
        return isAway
          ? Promise.resolve(Response.json({ error: code, message: "no backend" }, { status: 503 }))
          : next();
      }, 99);
      for (let count = 0; count < 2; count++) {
        const { message, retryable } = await assertRejects(() => open(), AuthorizationError);
        assertStringIncludes(message, "no backend");
        assertEquals([retryable, world.person.visits.length], [true, 1]);
      }
      isAway = false;
      // Who asks for a sign-in has it at once.
      await oauth.signIn(resourceUrl);
      await using client = await open();
      await client.listTools();
      assertEquals(world.person.visits.length, 2);
    });
  }

  test("a token endpoint that is away sends a person to one sign-in in 30 s, not to one with each call", async () => {
    const { world, open } = await createParty();
    await using client = await open();
    await client.listTools();
    await world.clock.advance(3_600_000);
    let isAway = true;
    world.fault(
      "/token",
      (_, next) => isAway ? Promise.resolve(new Response("no backend", { status: 404 })) : next(),
      99,
    );
    const call = () => client.listTools().then(() => "listed", () => "failed");
    for (let count = 0; count < 3; count++) assertEquals(await call(), "failed");
    assertEquals(world.person.visits.length, 2);
    await world.clock.advance(30_000);
    assertEquals(await call(), "failed");
    assertEquals(world.person.visits.length, 3);
    isAway = false;
    assertEquals(await call(), "listed");
    assertEquals(world.person.visits.length, 3);
  });

  for (
    const [status, body] of [[403, "<html>robots"], [429, ""], [502, "<html>"], [
      200,
      "<html>log in to the airport",
    ]] as const
  ) {
    test(`a refresh that fails with status ${status} and no code asks nobody`, async () => {
      const { world, open } = await createParty();
      await using client = await open();
      await world.clock.advance(3_600_000);
      world.fault(({ form }) => form.get("grant_type") === "refresh_token", answer(status, body));
      await client.listTools().catch(() => {});
      await client.listTools();
      assertEquals(world.person.visits.length, 1);
    });
  }

  for (const code of ["server_error", "temporarily_unavailable"]) {
    test(`a refresh that fails with "${code}" asks nobody`, async () => {
      const { world, open } = await createParty();
      await using client = await open();
      await world.clock.advance(3_600_000);
      world.fault(({ form }) => form.get("grant_type") === "refresh_token", refusal(code), 9);
      await assertRejects(() => client.listTools());
      assertEquals(world.person.visits.length, 1);
    });
  }

  test("a person who does not come back is waited for as long as the sign-in can be finished", async () => {
    let signal: AbortSignal | undefined;
    const { world, oauth } = await createParty({
      authorize: (request) => (signal = request.signal, new Promise<string>(() => {})),
    });
    const signedIn = oauth.signIn(resourceUrl);
    signedIn.catch(() => {});
    await until(() => signal !== undefined);
    assertEquals(signal?.aborted, false);
    await world.clock.advance(600_000);
    const error = await assertRejects(() => signedIn, AuthorizationError);
    assertStringIncludes(error.message, "nobody came back");
    assertEquals(signal?.aborted, true);
  });

  test("a sign-in that everybody has given up ends, and the next one begins anew", async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const { oauth } = await createParty({
      authorize: (request) => (signals.push(request.signal), new Promise<string>(() => {})),
    });
    const one = new AbortController();
    const two = new AbortController();
    const waiting = [one, two].map(({ signal }) => oauth.signIn(resourceUrl, { signal }));
    const outcomes = Promise.allSettled(waiting);
    await until(() => signals.length === 1);
    one.abort(new Error("enough"));
    await settle();
    assertEquals(signals.map((signal) => signal?.aborted), [false]);
    two.abort(new Error("enough"));
    assertEquals((await outcomes).map(({ status }) => status), ["rejected", "rejected"]);
    assertEquals(signals.map((signal) => signal?.aborted), [true]);
    const third = new AbortController();
    const again = oauth.signIn(resourceUrl, { signal: third.signal }).catch(() => {});
    await until(() => signals.length === 2);
    third.abort();
    await again;
  });

  test("a device that nobody waits for any more stops asking", async () => {
    const { world, oauth } = await createParty({ authorize: undefined, grant: deviceCode({ onCode: () => {} }) });
    const controller = new AbortController();
    const signedIn = oauth.signIn(resourceUrl, { signal: controller.signal });
    signedIn.catch(() => {});
    await until(() => world.log.count("/device") === 1);
    await settle();
    await world.clock.advance(5_000);
    await until(() => world.log.tokens().length > 0);
    controller.abort(new Error("enough"));
    await assertRejects(() => signedIn, Error, "enough");
    const asked = world.log.tokens().length;
    assert(asked > 0);
    await world.clock.advance(60_000);
    await settle();
    assertEquals(world.log.tokens().length, asked);
  });
});
