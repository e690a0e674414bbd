/** Signing in at a real authorization server, with the public API alone. */
import { describe, test } from "node:test";
import { assert, assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import { type CallToolResult, connect } from "../../../src/entry/local.ts";
import { createDpop, createMemoryStore, createOAuth, type OAuth, type OAuthOptions } from "../../../src/auth/mod.ts";
import { type Clock, systemClock } from "../../../src/ports.ts";
import { AuthorizationError } from "../../../src/protocol/errors.ts";
import { Browser } from "./browser.ts";
import { introspector, startResources } from "./resource.ts";
import { type ProviderOptions, skipReal, startProvider } from "./start.ts";

const redirectUri = "http://127.0.0.1:4000/callback";
const skip = { skip: skipReal };
const tells = (text: string): CallToolResult["content"] => [{ type: "text", text }];

interface Real {
  readonly issuer: string;
  readonly signed: string;
  readonly opaque: string;
  readonly bound: string;
  readonly browser: Browser;
  /** Makes a program that registers and signs in by the browser. */
  create(options?: OAuthOptions): OAuth;
}

async function withReal(run: (real: Real) => Promise<void>, options: ProviderOptions = {}): Promise<void> {
  await using provider = await startProvider({ clients: [introspector], lifetime: 300, ...options });
  await using resources = await startResources(provider.issuer);
  const browser = new Browser();
  const usual = { redirectUri, clientMetadata: { client_name: "A test" }, authorize: browser.authorize };
  const create = (own: OAuthOptions = {}) => createOAuth({ ...usual, ...own });
  const { signed, opaque, bound } = resources;
  await run({ issuer: provider.issuer, signed, opaque, bound, browser, create });
}

/** The runtime's clock, which a test can put forward: the server's own stays. */
function createAhead(): Clock & { ahead: number } {
  return {
    ...systemClock,
    ahead: 0,
    now() {
      return Date.now() + this.ahead;
    },
  };
}

/** How often the browser was brought to the server. */
function visits({ pages }: Browser): number {
  return pages.filter((page) => page.endsWith("/auth")).length;
}

describe("signing in at a real server", () => {
  test("a call leads there and back, once, and to more scope for a tool that needs it", skip, async () => {
    await withReal(async ({ issuer, signed, browser, create }) => {
      const oauth = create();
      await using client = await connect(signed, { auth: oauth });
      assertEquals((await client.callTool("whoami")).content, tells(`${issuer}#ada`));
      assertEquals((await client.callTool("whoami")).content, tells(`${issuer}#ada`));
      assertEquals(visits(browser), 1);
      const status = await oauth.status(signed);
      assertEquals([status?.issuer, status?.resource, status?.scopes], [issuer, signed, ["mcp:use"]]);
      assertEquals((await client.callTool("write")).content, tells("written"));
      assertEquals(visits(browser), 2);
      assertEquals((await oauth.status(signed))?.scopes.toSorted(), ["files:write", "mcp:use"]);
    });
  });

  test("another process begins, a third one finishes, a fourth one calls", skip, async () => {
    await withReal(async ({ signed, browser, create }) => {
      const store = createMemoryStore();
      const { authorizationUrl, pending } = await create({ store }).begin(signed);
      const state = new URL(authorizationUrl).searchParams.get("state") ?? "none";
      assert(state.length >= 43 && !JSON.stringify(pending).includes(state));
      const back = await browser.go(authorizationUrl, redirectUri);
      const { server } = await create({ store }).finishAuth(back);
      assertEquals(server, signed);
      await assertRejects(() => create({ store }).finishAuth(back), AuthorizationError);
      await using client = await connect(signed, { auth: create({ store, authorize: undefined }) });
      assert(!(await client.callTool("whoami")).isError);
    });
  });

  test("renews each time with the newest refresh token, once for all who wait", skip, async () => {
    await withReal(async ({ opaque, browser, create }) => {
      const clock = createAhead();
      const oauth = create({ clock });
      await using client = await connect(opaque, { auth: oauth });
      const seen = new Set([(await oauth.headers(opaque)).authorization]);
      for (let round = 1; round <= 3; round++) {
        clock.ahead += 300_000;
        const results = await Promise.all(Array.from({ length: 5 }, () => client.callTool("whoami")));
        assertEquals(results.filter(({ isError }) => isError), []);
        seen.add((await oauth.headers(opaque)).authorization);
      }
      assertEquals([seen.size, visits(browser)], [4, 1]);
    });
  });

  test("signs out: the server takes nothing of it any more", skip, async () => {
    await withReal(async ({ opaque, browser, create }) => {
      const oauth = create();
      await oauth.signIn(opaque);
      const headers = await oauth.headers(opaque);
      const ask = async () => {
        const response = await fetch(opaque, { method: "POST", headers, body: "{}" });
        await response.body?.cancel();
        return response.status;
      };
      assertNotEquals(await ask(), 401);
      assertEquals(await oauth.signOut(opaque), { revoked: true });
      assertEquals(await ask(), 401);
      assertEquals([await oauth.status(opaque), await oauth.signOut(opaque)], [undefined, undefined]);
      await using client = await connect(opaque, { auth: oauth });
      assert(!(await client.callTool("whoami")).isError);
      assertEquals(visits(browser), 2);
    });
  });

  for (const nonces of [false, true]) {
    test(`binds its tokens to a key, ${nonces ? "with" : "without"} nonces`, skip, async () => {
      await withReal(async ({ bound, browser, create }) => {
        const clock = createAhead();
        // Proofs are made by the true time: it is the token alone that seems to be old.
        const oauth = create({ dpop: createDpop(), clock });
        await using client = await connect(bound, { auth: oauth });
        const call = async () => (await client.callTool("whoami")).content;
        assertEquals([await call(), await call()], [tells("who holds the key"), tells("who holds the key")]);
        const { authorization: first = "" } = await oauth.headers(bound);
        clock.ahead += 300_000;
        assertEquals(await call(), tells("who holds the key"));
        const { authorization: second = "" } = await oauth.headers(bound);
        assertEquals([first, second].map((header) => header.split(" ")[0]), ["DPoP", "DPoP"]);
        assertNotEquals(first, second);
        assertEquals(visits(browser), 1);
      }, { nonces });
    });
  }
});
