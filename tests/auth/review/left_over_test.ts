/** What others left behind: records, leases, tokens of another kind. */
import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { createMemoryStore } from "../../../src/auth/mod.ts";
import { AuthorizationError } from "../../../src/protocol/errors.ts";
import { createParty } from "../sign_in/parties.ts";
import { refusal } from "../world/faults.ts";
import { resourceUrl } from "../world/world.ts";

describe("what is left over", () => {
  test("a token that needs proofs is refused where there is no key for them", async () => {
    const { oauth } = await createParty({}, { server: { tokenType: "DPoP" } });
    await assertRejects(() => oauth.signIn(resourceUrl), AuthorizationError, '"token_type" is not "Bearer"');
    assertEquals(await oauth.status(resourceUrl), undefined);
  });

  test("signing out forgets what was asked for, also where the tokens are gone already", async () => {
    const { world, oauth, another, open } = await createParty({ scopes: ["files:write"] });
    const client = await open();
    await client[Symbol.asyncDispose]();
    await world.clock.advance(3_600_000);
    const refused = ({ form }: { form: URLSearchParams }) => form.get("grant_type") === "refresh_token";
    world.fault(refused, refusal("invalid_grant"));
    const plain = another({ scopes: undefined, authorize: undefined });
    await assertRejects(() => plain.wrap(world.fetch, resourceUrl)(resourceUrl, { method: "POST", body: "{}" }));
    assertEquals(await oauth.status(resourceUrl), undefined);
    assertEquals(await plain.signOut(resourceUrl), undefined);
    const { pending } = await plain.begin(resourceUrl, { scopes: ["files:read"] });
    assertEquals(pending.scopes.includes("files:write"), false);
  });

  test("a lease that a dead process holds is waited for with few looks at the store", async () => {
    const inner = createMemoryStore();
    const keys = new Set<string>();
    let looks = 0;
    const store = {
      ...inner,
      get: (key: string) => (looks++, inner.get(key)),
      set: (key: string, text: string) => (keys.add(key), inner.set(key, text)),
    };
    const { world, another, open } = await createParty({ store });
    const before = await open();
    await before[Symbol.asyncDispose]();
    await world.clock.advance(3_600_000);
    let planted = 0;
    for (const key of keys) {
      const record = JSON.parse(await inner.get(key) ?? "{}");
      if (!record.refreshToken) continue;
      planted++;
      await inner.set(key, JSON.stringify({ ...record, lease: { id: "dead", until: world.clock.now() + 15_000 } }));
    }
    assertEquals(planted, 1);
    looks = 0;
    const late = another();
    const call = late.wrap(world.fetch, resourceUrl)(resourceUrl, { method: "POST", body: "{}" });
    for (let second = 0; second < 20; second++) await world.clock.advance(1_000);
    await (await call).body?.cancel();
    assertEquals(world.log.tokens("refresh_token").length, 1);
    assert(looks < 50, `${looks} looks`);
  });
});
