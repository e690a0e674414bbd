import { assertEquals } from "@std/assert";
import { describe, test } from "node:test";
import { createOAuth, type Grant } from "../../../src/auth/mod.ts";
import { createWorld, redirectUri, resourceUrl } from "../world/world.ts";

const type = "urn:ietf:params:oauth:grant-type:device_code";

describe("registering for a grant", () => {
  for (const isForPeople of [false, true]) {
    test(`a client that ${isForPeople ? "people" : "nobody"} can come back to says so, and names each grant once`, async () => {
      const world = await createWorld();
      const obtain = async ({ clientId, resource = "", request, post }: Parameters<Grant["obtain"]>[0]) => {
        const begun = await post("device_authorization_endpoint", { client_id: clientId, resource });
        world.server.devices.decide(String(begun.user_code), "approved");
        await world.clock.advance(5_000);
        return await request(type, { device_code: String(begun.device_code) });
      };
      const grant: Grant = { grantTypes: [type, "refresh_token"], obtain };
      const own = isForPeople ? { redirectUri } : {};
      const oauth = createOAuth({ ...own, grant, fetch: world.fetch, clock: world.clock });
      await oauth.signIn(resourceUrl);
      const registered = JSON.parse(world.log.of("/register")[0]?.body ?? "{}");
      const said = [registered.redirect_uris, registered.response_types, registered.grant_types];
      const grants = [type, "refresh_token"];
      assertEquals(said, isForPeople ? [[redirectUri], ["code"], ["authorization_code", ...grants]] : [[], [], grants]);
      assertEquals((await oauth.status(resourceUrl))?.refreshable, true);
    });
  }
});
