/** What others left behind: records, leases, tokens of another kind. */
import { describe, test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
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
});
