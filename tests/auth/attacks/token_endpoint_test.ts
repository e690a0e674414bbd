/** What a token endpoint may do to a client: nothing hangs, nothing stays open, and nothing unsound is kept. */
import { describe, test } from "node:test";
import { assert, assertEquals, assertLess } from "@std/assert";
import type { McpError } from "../../../src/protocol/errors.ts";
import { createParty } from "../sign_in/parties.ts";
import { answer, answerJson, endless, type Fault, huge, notJson, redirect, refusal, silence } from "../world/faults.ts";
import { issuer, resourceUrl } from "../world/world.ts";
import { attack, checkWords, ended, hitsOf, refusalOf, strangers, wait, type Waiting } from "./attack.ts";

/** The steps at which a token endpoint is asked. Each gives what it ended with; where it is slow, time moves on. */
const steps: Record<string, (fault: Fault, isSlow?: boolean) => Promise<Waiting & { readonly error: McpError }>> = {
  "a code": async (fault, isSlow) => {
    const waiting = await wait();
    waiting.world.fault("/token", fault, 99);
    const work = waiting.oauth.finishAuth(waiting.callback);
    return { ...waiting, error: await refusalOf(isSlow ? ended(waiting.world, work) : work) };
  },
  "a refresh": async (fault, isSlow) => {
    const waiting = await wait();
    const { world, oauth, callback } = waiting;
    await oauth.finishAuth(callback);
    await world.clock.advance(400_000);
    world.log.clear();
    world.fault("/token", fault, 99);
    const ask = oauth.wrap(world.fetch, resourceUrl);
    const work = ask(resourceUrl, { method: "POST", body: "{}" });
    return { ...waiting, error: await refusalOf(isSlow ? ended(world, work) : work) };
  },
};

const targets = ["https://evil.example/token", "http://auth.example.com/token", "https://127.0.0.1/token"];
targets.push("https://auth.example.com:8443/token", "//evil.example/token", "javascript:alert(1)", "https://");
targets.push(
  "https://user:pass@auth.example.com/token",
  "https://mcp.example.com/mcp",
  "https://metadata.google.internal/",
);

describe("attacks of the token endpoint by redirects", () => {
  for (const [step, run] of Object.entries(steps)) {
    const cases = targets.flatMap((target) =>
      ([301, 302, 303, 307, 308] as const).map((status) => ({ target, status }))
    );
    attack(`${step}: elsewhere`, cases, async ({ target, status }) => {
      const { world } = await run(redirect(target, status));
      // One request for each try to renew, and none where it was sent on to.
      assertLess(world.log.tokens().length, 3);
      const led = world.log.of(({ url }) => url.origin !== new URL(issuer).origin && url.href !== resourceUrl);
      return [...strangers(world), ...led.map(({ url }) => url.href)];
    });

    attack(
      `${step}: on its own origin, by a status that changes the request`,
      [301, 302, 303] as const,
      async (status) => {
        const { world } = await run(redirect(`${issuer}/other`, status));
        return world.log.of("/other").map(({ url }) => url.href);
      },
    );

    attack(`${step}: in a circle`, [307, 308] as const, async (status) => {
      const { world } = await run(redirect(`${issuer}/token`, status));
      assertLess(world.log.tokens().length, 10);
      return strangers(world);
    });
  }

  test("307 and 308 on its own origin are followed: the form goes along once", async () => {
    for (const status of [307, 308] as const) {
      const { world, oauth, callback } = await wait();
      world.fault("/token", redirect(`${issuer}/token?moved`, status));
      await oauth.finishAuth(callback);
      assertEquals(world.log.tokens().map(({ url, status }) => [url.search, status]), [["", status], ["?moved", 200]]);
    }
  });
});

/** A body that tells when it is let go of: its first bytes come, then it stalls. */
function stalling(first: string, open: { count: number }): Fault {
  return () => {
    open.count++;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(first)),
      cancel: () => void open.count--,
    });
    return new Response(body, { headers: { "content-type": "application/json" } });
  };
}

describe("attacks of the token endpoint by size and time", () => {
  for (const [step, run] of Object.entries(steps)) {
    attack(`${step}: too long`, [262_145, 1_000_000, 20_000_000], async (bytes) => {
      const { error, world } = await run(huge(bytes));
      assertEquals(error.code, "limit_exceeded");
      return strangers(world);
    });

    const lengths = ["1073741824", "1e30", "9".repeat(400)];
    attack(`${step}: says that it is long, and is given up at once`, lengths, async (length) => {
      const counted = { cancelled: 0 };
      const body = endless(counted);
      const { world, error } = await run(async (seen, go) => {
        const reply = await body(seen, go);
        return new Response(reply.body, { headers: { "content-length": length } });
      });
      assertEquals([error.code, counted.cancelled], ["limit_exceeded", world.log.tokens().length]);
    });

    test(`${step}: without end, it is given up`, async () => {
      const counted = { cancelled: 0 };
      const { world, error } = await run(endless(counted));
      assertEquals([error.code, counted.cancelled], ["limit_exceeded", world.log.tokens().length]);
    });

    attack(`${step}: stalls`, ["", "{", '{"access_token":"a"', " "], async (first) => {
      const open = { count: 0 };
      const { world, error } = await run(stalling(first, open), true);
      assertEquals([error.code, open.count, world.clock.waiting], ["timeout", 0, 0]);
    });

    test(`${step}: never answers; it is given up, and its signal says so`, async () => {
      const { world, error } = await run(silence, true);
      assertEquals([error.code, world.clock.waiting], ["timeout", 0]);
      for (const { signal } of world.log.tokens()) assertEquals(signal?.aborted, true);
      assertLess(world.clock.now() - Date.UTC(2026, 6, 28), 500_000);
    });
  }
});

const token = { access_token: "good-token", token_type: "Bearer", expires_in: 60 };
const unsound: Record<string, Fault> = {
  "a page": notJson,
  "a page with 400": answer(400, "<html>no</html>"),
  "a refusal with 200": refusal("invalid_grant", 200),
  "a refusal without words": answer(400),
  "nothing": answer(200),
  "204": answer(204),
  "a list": answerJson([token]),
  "a text": answerJson("good-token"),
  "null": answerJson(null),
  "half of it": answer(200, '{"access_token":"good-token"'),
  "two": answer(200, JSON.stringify(token).repeat(2)),
  "a token in a page": answer(200, "access_token=good-token&token_type=<b>"),
  "500": answerJson(token, 500),
  "401": answerJson(token, 401),
  "304": answer(304),
  "an error beside it": answerJson({ ...token, error: "invalid_grant" }),
  "a number as error": answerJson({ ...token, error: 1 }),
};
const tokens: readonly unknown[] = ["", " ", "a b", "a\r\nx-evil: 1", "a\n", "\0", "é", "a\u2028", "💥", 1, true, null];
const fields: readonly Record<string, unknown>[] = [
  ...tokens.map((access_token) => ({ access_token })),
  { access_token: undefined },
  { access_token: ["good-token"] },
  { access_token: {} },
  ...["mac", "", "bearer ", "Bearer,DPoP", "DPoP", "N_A", "\x1b[31m", 1, true, {}, []].map((token_type) => ({
    token_type,
  })),
  ...[1, true, {}, [], ["a"]].map((refresh_token) => ({ refresh_token })),
];

describe("attacks of the token endpoint by what it says", () => {
  for (const [step, run] of Object.entries(steps)) {
    attack(`${step}: no sound reply`, unsound, async (fault) => {
      const { world, oauth, error } = await run(fault);
      checkWords(error);
      // A refused grant is forgotten; else what was there before stays, and none of what came is sent.
      const status = await oauth.status(resourceUrl);
      assert(step === "a refresh" || status === undefined);
      return world.log.holding("good-token").map(({ url }) => url.href);
    });

    attack(`${step}: unsound fields`, fields, async (field) => {
      const { world, error } = await run(answerJson({ ...token, ...field }));
      const [name = ""] = Object.keys(field);
      assert(error.message.includes(`"${name}"`), error.message);
      return world.log.holding("good-token").map(({ url }) => url.href);
    });
  }

  const times: readonly unknown[] = [-1, -1e308, "NaN", "abc", "", " ", "1e999", null, true, false, [], {}, "-5"];
  attack("expires_in that is none counts as not told", times, async (expires_in) => {
    const { world, oauth, callback } = await wait();
    world.fault("/token", answerJson({ ...token, expires_in }));
    assertEquals((await oauth.finishAuth(callback)).expiresAt, undefined);
  });

  const measureless = [1e308, 1e20, Number.MAX_SAFE_INTEGER, 1e9, "1e30", "9".repeat(30)];
  attack("expires_in without measure counts as not told", measureless, async (expires_in) => {
    const { world, oauth, another, callback } = await wait({}, { server: { tokenReply: { expires_in } } });
    const { expiresAt, refreshable } = await oauth.finishAuth(callback);
    assertEquals([expiresAt, refreshable], [undefined, true]);
    // Also for who reads it from the store: it is not renewed with each call.
    world.log.clear();
    const reply = await another().wrap(world.fetch, resourceUrl)(resourceUrl, { method: "GET" });
    assert(reply.status !== 401);
    return hitsOf(world);
  });

  attack("expires_in that is fine", [60, "60", 60.5, "60.0"], async (expires_in) => {
    const { world, oauth, callback } = await wait();
    world.fault("/token", answerJson({ ...token, expires_in }));
    const { expiresAt = 0 } = await oauth.finishAuth(callback);
    assertEquals(Math.floor((expiresAt - world.clock.now()) / 1_000), 60);
  });

  attack("scope of another kind counts as not told", [1, true, null, [], ["a"], {}], async (scope) => {
    const { world, oauth, callback } = await wait({ scopes: ["mcp:use"] });
    world.fault("/token", answerJson({ ...token, scope }));
    assertEquals((await oauth.finishAuth(callback)).scopes.includes("mcp:use"), true);
  });

  test("nothing of it is left: the next sign-in is a new one", async () => {
    const { world, oauth } = await createParty();
    world.fault("/token", notJson);
    await refusalOf(oauth.signIn(resourceUrl));
    assertEquals((await oauth.signIn(resourceUrl)).issuer, issuer);
    assertEquals(world.person.visits.length, 2);
  });
});
