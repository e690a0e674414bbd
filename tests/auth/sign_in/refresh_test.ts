import { assertEquals } from "@std/assert";
import { describe, test } from "node:test";
import { clientCredentials, createOAuth } from "../../../src/auth/mod.ts";
import { createWorld, issuer, resourceUrl } from "../world/world.ts";
import { createParty } from "./parties.ts";

describe("refreshing", () => {
  for (const count of [1, 10, 100]) {
    test(`${count} calls with an expired token: all succeed, one refresh, nobody is asked`, async () => {
      const { world, oauth, open } = await createParty();
      await using client = await open();
      const before = await oauth.status(resourceUrl);
      await world.clock.advance(3_600_000);
      world.log.clear();
      await Promise.all(Array.from({ length: count }, () => client.listTools()));
      assertEquals(world.log.tokens().map(({ form }) => form.get("grant_type")), ["refresh_token"]);
      assertEquals(world.log.metadata().length, 0);
      assertEquals(world.person.visits.length, 1);
      assertEquals(world.log.of("/mcp").filter(({ status }) => status === 401).length, 0);
      assertEquals((await oauth.status(resourceUrl))?.issuer, before?.issuer);
    });
  }

  test("a program whose token has ended gets another one for the same resource and the same scopes", async () => {
    const world = await createWorld();
    world.server.clients.add({ id: "nightly", secret: "s3cret-of-nightly", grantTypes: ["client_credentials"] });
    const grant = clientCredentials({ clientId: "nightly", clientSecret: "s3cret-of-nightly", issuer });
    const oauth = createOAuth({ grant, fetch: world.fetch, clock: world.clock });
    const fetch = oauth.wrap(world.fetch, resourceUrl);
    const ask = async () => {
      const reply = await fetch(resourceUrl, { method: "POST", body: "{}" });
      await reply.text();
      return reply.status;
    };
    await oauth.signIn(resourceUrl, { scopes: ["mcp:use"] });
    const first = await ask();
    await world.clock.advance(3_600_000);
    assertEquals(await ask(), first);
    const forms = world.log.tokens().map(({ form }) => Object.fromEntries(form));
    assertEquals(forms.length, 2);
    assertEquals(forms[1], forms[0]);
    assertEquals([forms[1]?.resource, forms[1]?.scope?.split(" ").includes("mcp:use")], [resourceUrl, true]);
    assertEquals(world.log.of("/mcp").filter(({ status }) => status === 401).length, 1, "before there was a token");
  });
});
