import { assertEquals } from "@std/assert";
import { describe, test } from "node:test";
import { resourceUrl } from "../world/world.ts";
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
});
