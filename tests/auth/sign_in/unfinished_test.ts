import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, test } from "node:test";
import { AuthorizationError } from "../../../mod.ts";
import { createMemoryStore } from "../../../src/auth/mod.ts";
import type { Store } from "../../../src/ports.ts";
import { resourceUrl } from "../world/world.ts";
import { createParty } from "./parties.ts";

/** A store whose keys can be looked at. */
function createOpenStore(): Store & { readonly keys: Set<string> } {
  const store = createMemoryStore();
  const keys = new Set<string>();
  return {
    ...store,
    keys,
    set: (key, value) => (keys.add(key), store.set(key, value)),
    delete: (key) => (keys.delete(key), store.delete(key)),
    compareAndSet: async (key, expected, value) => {
      const done = await store.compareAndSet(key, expected, value);
      if (done) value === undefined ? keys.delete(key) : keys.add(key);
      return done;
    },
  };
}

describe("sign-ins that nobody finishes", () => {
  test("are forgotten once they are too old, whoever began them", async () => {
    const store = createOpenStore();
    const { world, another } = await createParty({ store });
    for (let count = 0; count < 5; count++) await another().begin(resourceUrl);
    const open = () => [...store.keys].filter((key) => key.startsWith("oauth.pending."));
    assertEquals(open().length, 5);
    await world.clock.advance(600_001);
    const { pending } = await another().begin(resourceUrl);
    assertEquals(open(), [pending.id]);
  });

  test("are kept apart: those of others stay, and the young ones can be finished", async () => {
    const store = createOpenStore();
    const { world, another } = await createParty({ store });
    const other = await another({ subject: "bob" }).begin(resourceUrl);
    await world.clock.advance(300_000);
    const [first, second] = [await another().begin(resourceUrl), await another().begin(resourceUrl)];
    await world.clock.advance(300_001);
    await another().begin(resourceUrl);
    assert(store.keys.has(other.pending.id), "somebody else's record is not ours to forget");
    for (const { authorizationUrl } of [first, second]) {
      const callback = await world.person.follow(authorizationUrl);
      assertEquals((await another().finishAuth(callback)).server, resourceUrl);
      await assertRejects(() => another().finishAuth(callback), AuthorizationError);
    }
  });

  test("do not gather without bound", async () => {
    const store = createOpenStore();
    const { another } = await createParty({ store });
    const oauth = another();
    let last = "";
    for (let count = 0; count < 60; count++) last = (await oauth.begin(resourceUrl)).pending.id;
    const open = [...store.keys].filter((key) => key.startsWith("oauth.pending."));
    assertEquals([open.length, open.includes(last)], [50, true]);
  });
});

describe("where a person is sent", () => {
  test("asks for their consent where the tokens are to last, as OpenID Connect wants it, and else leaves that to the server", async () => {
    const prompts = [];
    for (const scopes_supported of [["mcp:use", "files:write"], ["mcp:use", "offline_access"]]) {
      const { oauth } = await createParty({}, { server: { metadata: { scopes_supported } } });
      const { authorizationUrl, pending } = await oauth.begin(resourceUrl, { scopes: ["files:write"] });
      const { searchParams } = new URL(authorizationUrl);
      assertEquals(searchParams.get("scope"), pending.scopes.join(" "));
      prompts.push(searchParams.get("prompt"));
    }
    assertEquals(prompts, [null, "consent"]);
  });

  test("is a place of a real authorization server: a fragment of its address is left out", async () => {
    const { oauth } = await createParty({}, {
      server: { metadata: { authorization_endpoint: "https://auth.example.com/authorize?x=1#top" } },
    });
    const url = new URL((await oauth.begin(resourceUrl)).authorizationUrl);
    assertEquals([url.hash, url.searchParams.get("x"), url.searchParams.get("response_type")], ["", "1", "code"]);
  });

  test("is known to nobody else: what finishes the sign-in is taken out of all texts", async () => {
    const store = createOpenStore();
    const { oauth } = await createParty({ store });
    const { pending } = await oauth.begin(resourceUrl);
    const { state, verifier } = JSON.parse(await store.get(pending.id) ?? "");
    const text = oauth.redact(`{"state":"${state}","verifier":"${verifier}"}`);
    assert(!text.includes(state) && !text.includes(verifier), text);
  });
});
