/** Servers that are never content: a call ends after a bounded number of requests, and a person is asked as often as is told. */
import { describe, test } from "node:test";
import { assert, assertEquals, assertLessOrEqual } from "@std/assert";
import { createDpop } from "../../../src/auth/mod.ts";
import { AuthorizationError, AuthorizationRequiredError, UnauthorizedError } from "../../../src/protocol/errors.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { createParty, type Party } from "../sign_in/parties.ts";
import { answerJson, type Fault } from "../world/faults.ts";
import { resourceUrl, type World, type WorldOptions } from "../world/world.ts";
import { attack, ended, strangers } from "./attack.ts";

/** How often one call is sent at most. */
const mostAttempts = 8;
/** How often a person is asked for one call at most: to sign in, and twice for more scope. */
const mostVisits = 3;

const refuse = (status: number, challenge: string, headers: Record<string, string> = {}): Response =>
  new Response("no entry", { status, headers: { "www-authenticate": challenge, ...headers } });
const counted = (make: (count: number) => Response): Fault => {
  let count = 0;
  return () => make(count++);
};
const more = (count: number) =>
  refuse(
    403,
    `Bearer error="insufficient_scope", scope="${Array.from({ length: count + 1 }, (_, at) => `s${at}`).join(" ")}"`,
  );
const invalid = () => refuse(401, 'Bearer error="invalid_token"');

const servers: Record<string, () => Fault> = {
  "401 for ever": () => counted(invalid),
  "401 without a challenge for ever": () => counted(() => new Response("no entry", { status: 401 })),
  "401 with an error of scopes": () => counted(() => refuse(401, 'Bearer error="insufficient_scope", scope="s1"')),
  "403 with growing scopes": () => counted(more),
  "403 with the same scope": () => counted(() => more(1)),
  "403 without a scope": () => counted(() => refuse(403, 'Bearer error="insufficient_scope"')),
  "403 without a reason": () => counted(() => refuse(403, "Bearer")),
  "401 and 403 by turns": () => counted((count) => count % 2 ? more(count) : invalid()),
  "403 and 401 by turns": () => counted((count) => count % 2 ? invalid() : more(count)),
  "two 401, two 403": () => counted((count) => count & 2 ? more(count) : invalid()),
  "a nonce for ever": () =>
    counted((count) => refuse(401, 'DPoP error="use_dpop_nonce"', { "dpop-nonce": `n${count}` })),
  "a nonce and no word of it": () => counted((count) => refuse(401, "DPoP", { "dpop-nonce": `n${count}` })),
  "a nonce and more scope by turns": () =>
    counted((count) =>
      count % 2 ? more(count) : refuse(401, 'DPoP error="use_dpop_nonce"', { "dpop-nonce": `n${count}` })
    ),
};

const knownScopes = ["mcp:use", "offline_access", ...Array.from({ length: 200 }, (_, index) => `s${index}`)];
const worldOptions: WorldOptions = { server: { scopes: knownScopes } };

/** What one call brought about. */
function countsOf(world: World) {
  const posts = world.log.of(({ url, method }) => url.href === resourceUrl && method === "POST");
  return {
    calls: posts.filter(({ body }) => body.includes("tools/call")).length,
    asked: world.person.visits.length,
    tokens: world.log.tokens().length,
    all: world.log.all.length,
  };
}

async function opened(hasKey = false): Promise<Party & AsyncDisposable & { call(): Promise<unknown> }> {
  const clock = new VirtualClock();
  const party = await createParty(hasKey ? { dpop: createDpop({ clock }) } : {}, { ...worldOptions, clock });
  const client = await party.open();
  party.world.log.clear();
  party.world.person.visits.length = 0;
  const call = () => client.callTool("echo", { text: "a" });
  return { ...party, call, [Symbol.asyncDispose]: () => client[Symbol.asyncDispose]() };
}

function checkRefusal(error: unknown): void {
  assert(error instanceof UnauthorizedError || error instanceof AuthorizationError, String(error));
}

describe("servers that are never content", () => {
  for (const kept of ["a token", "a token bound to a key"]) {
    attack(`one call, with ${kept}`, servers, async (make) => {
      await using party = await opened(kept !== "a token");
      const { world, call } = party;
      world.fault(resourceUrl, make(), 9_999);
      checkRefusal(await call().then(() => undefined, (error: unknown) => error));
      const { calls, asked, tokens, all } = countsOf(world);
      assertLessOrEqual(calls, mostAttempts);
      assertLessOrEqual(asked, mostVisits);
      assertLessOrEqual(tokens, mostVisits + 1);
      assertLessOrEqual(all, mostAttempts + 2 * mostVisits * 4, "requests");
      return strangers(world);
    });
  }

  attack("connecting", servers, async (make) => {
    const { world, open } = await createParty({}, worldOptions);
    world.fault(resourceUrl, make(), 9_999);
    checkRefusal(await open().then(() => undefined, (error: unknown) => error));
    const { asked, all } = countsOf(world);
    assertLessOrEqual(asked, mostVisits);
    assertLessOrEqual(all, 60, "requests");
    return strangers(world);
  });

  attack(
    "fifty calls, one after the other: who has just signed in to no avail is left alone",
    servers,
    async (make) => {
      await using party = await opened();
      const { world, call } = party;
      world.fault(resourceUrl, make(), 9_999);
      for (let index = 0; index < 50; index++) {
        checkRefusal(
          await call().then(() => undefined, (error: unknown) => error),
        );
      }
      const { asked, calls } = countsOf(world);
      assertLessOrEqual(asked, mostVisits);
      assertLessOrEqual(calls, mostAttempts + 49 * 3);
      return strangers(world);
    },
  );

  attack("fifty calls at once", servers, async (make) => {
    await using party = await opened();
    const { world, call } = party;
    world.fault(resourceUrl, make(), 9_999);
    const ends = await ended(world, Promise.allSettled(Array.from({ length: 50 }, call)), 100);
    for (const end of ends) checkRefusal(end.status === "rejected" ? end.reason : undefined);
    const { asked, calls } = countsOf(world);
    assertLessOrEqual(asked, mostVisits);
    assertLessOrEqual(calls, 50 * mostAttempts);
    return strangers(world);
  });

  attack("nobody there to ask: the person is asked once, by whoever called first", servers, async (make) => {
    await using party = await opened();
    const { world, another, open } = party;
    const alone = another({ authorize: undefined });
    await using client = await open({}, alone);
    world.fault(resourceUrl, make(), 9_999);
    const urls = new Set<string>();
    for (let index = 0; index < 20; index++) {
      const error = await ended(world, client.callTool("echo", { text: "a" }), 100).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      if (error instanceof AuthorizationRequiredError) urls.add(error.authorizationUrl);
      else checkRefusal(error);
    }
    assertLessOrEqual(urls.size, mostVisits);
    return [...world.log.tokens("authorization_code").map(({ url }) => url.href), ...strangers(world)];
  });

  test("a token endpoint that wants a nonce for ever is asked twice", async () => {
    const clock = new VirtualClock();
    const { world, oauth } = await createParty({ dpop: createDpop({ clock }) }, { ...worldOptions, clock });
    let count = 0;
    const wants: Fault = () => {
      const headers = { "dpop-nonce": `nonce-${count++}` };
      return Response.json({ error: "use_dpop_nonce" }, { status: 400, headers });
    };
    world.fault("/token", wants, 99);
    const error = await oauth.signIn(resourceUrl).then(() => undefined, (reason: unknown) => reason);
    assert(error instanceof AuthorizationError && error.error === "use_dpop_nonce", String(error));
    assertEquals(world.log.tokens().length, 2);
  });

  attack(
    "a token endpoint that refuses for ever",
    ["invalid_grant", "invalid_client", "invalid_scope", "server_error"],
    async (code) => {
      await using party = await opened();
      const { world, call } = party;
      await world.clock.advance(400_000);
      world.log.clear();
      world.fault("/token", answerJson({ error: code }, 400), 999);
      const ends: unknown[] = [];
      for (let index = 0; index < 10; index++) ends.push(await call().then(() => undefined, (error: unknown) => error));
      for (const end of ends) checkRefusal(end);
      const { asked, tokens } = countsOf(world);
      // For each call: renewing before it and after its refusal, and the code of a person who is asked.
      assertLessOrEqual(tokens, 30);
      assertLessOrEqual(asked, 10);
      return strangers(world);
    },
  );
});
