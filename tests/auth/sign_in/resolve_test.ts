import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { describe, test } from "node:test";
import { createConnect } from "../../../src/entry/connect.ts";
import { EgressDeniedError } from "../../../mod.ts";
import { resourceUrl } from "../world/world.ts";
import { createParty } from "./parties.ts";

describe("the resolver of a runtime's connect", () => {
  const inside = () => Promise.resolve(["10.0.0.1"]);

  test("judges what servers name, without a word of the author", async () => {
    const { world, oauth } = await createParty();
    const connect = createConnect(() => ({ fetch: world.fetch }), inside);
    const error = await assertRejects(() => connect(resourceUrl, { auth: oauth }), EgressDeniedError);
    assertStringIncludes(error.message, '"auth.example.com" resolves to "10.0.0.1"');
    assertEquals(world.log.of(({ url }) => url.hostname === "auth.example.com").length, 0);
  });

  test("does not take the place of the author's own", async () => {
    const { world, oauth } = await createParty({ resolve: () => Promise.resolve(["93.184.216.34"]) });
    const connect = createConnect(() => ({ fetch: world.fetch }), inside);
    await using client = await connect(resourceUrl, { auth: oauth });
    assertEquals((await client.listTools()).tools.length > 0, true);
  });
});
