/** Servers write what they do not have in many ways. */
import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { createParty } from "../sign_in/parties.ts";
import { notJson } from "../world/faults.ts";
import { soundRegistration } from "../world/server/knobs.ts";
import { issuer, resourceUrl } from "../world/world.ts";

describe("documents of servers that write what they do not have", () => {
  test("fields of a token reply that are null count as missing", async () => {
    const tokenReply = { refresh_token: null, token_type: null, expires_in: null, scope: null };
    const { oauth } = await createParty({}, { server: { tokenReply } });
    const { expiresAt, refreshable, scopes } = await oauth.signIn(resourceUrl, { scopes: ["mcp:use"] });
    assertEquals([expiresAt, refreshable, scopes.includes("mcp:use")], [undefined, false, true]);
  });

  for (const error of [null, ""]) {
    test(`a token reply whose error is ${JSON.stringify(error)} is none, also when it is renewed`, async () => {
      const tokenReply = { error, error_description: error, error_uri: error };
      const { world, oauth, open } = await createParty({}, { server: { tokenReply } });
      await using client = await open();
      await world.clock.advance(3_600_000);
      await client.listTools();
      assertEquals([world.person.visits.length, (await oauth.status(resourceUrl))?.refreshable], [1, true]);
    });
  }

  for (const lifetime of [0, "", 1e306, -1, "never", 1e300]) {
    test(`a lifetime of ${JSON.stringify(lifetime)} tells nothing: the token is sent until it is refused`, async () => {
      const world = { server: { tokenReply: { expires_in: lifetime }, refresh: "none" } } as const;
      const { world: { person }, oauth, open } = await createParty({}, world);
      await using client = await open();
      await client.listTools();
      assertEquals(person.visits.length, 1);
      assertEquals((await oauth.status(resourceUrl))?.expiresAt, undefined);
    });
  }

  test("no scopes, written as null, in the metadata of the resource", async () => {
    const { oauth } = await createParty({}, { resource: { metadata: { scopes_supported: null } } });
    assertEquals((await oauth.signIn(resourceUrl)).issuer, issuer);
  });

  test("addresses of the authorization server that are null", async () => {
    const metadata = { revocation_endpoint: null, device_authorization_endpoint: null };
    const { oauth } = await createParty({}, { server: { metadata } });
    await oauth.signIn(resourceUrl);
    assertEquals(await oauth.signOut(resourceUrl), { revoked: false });
  });

  test("a page in the place of the resource's metadata at its path: the root has it", async () => {
    const places = { header: false, path: false, root: true };
    const { world, oauth } = await createParty({}, { resource: { places, metadataUrl: "absent" } });
    world.fault("/.well-known/oauth-protected-resource/mcp", notJson);
    assertEquals((await oauth.signIn(resourceUrl)).issuer, issuer);
  });

  test("a revocation is done with status 200, whatever the body says", async () => {
    const { world, oauth } = await createParty();
    await oauth.signIn(resourceUrl);
    world.fault("/revoke", notJson);
    assertEquals(await oauth.signOut(resourceUrl), { revoked: true });
  });

  test("a registration that gives a secret and does not say how it is shown: as the server supports it", async () => {
    const reply = { token_endpoint_auth_method: undefined };
    const registration = { ...soundRegistration(), authMethod: "client_secret_basic", reply };
    const { world, oauth } = await createParty({}, { server: { registration } });
    await oauth.signIn(resourceUrl);
    assert(world.log.tokens()[0]?.headers.get("authorization")?.startsWith("Basic "));
  });
});
