/** What servers ask for, in odd words. */
import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { createParty } from "../sign_in/parties.ts";
import { issuer, resourceUrl } from "../world/world.ts";

describe("challenges", () => {
  test("what several schemes say in one header counts together", async () => {
    const places = { header: true, path: false, root: false };
    const challenges = [
      `Bearer realm="x", DPoP algs="ES256", resource_metadata="https://mcp.example.com/metadata/of/this"`,
    ];
    const { oauth } = await createParty({}, { resource: { places, challenges } });
    assertEquals((await oauth.signIn(resourceUrl)).issuer, issuer);
  });
});
