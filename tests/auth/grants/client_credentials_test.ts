/** Tokens for a program that acts for itself. */
import { describe, test } from "node:test";
import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { clientCredentials } from "../../../src/auth/mod.ts";
import type { OAuthClient } from "../../../src/auth/seam.ts";
import { AuthorizationError } from "../../../src/protocol/errors.ts";
import { GrantWorld, refusal, resource, tokenEndpoint } from "./context.ts";

describe("client credentials", () => {
  test("one request: the grant, the resource and the scope; the secret by Basic", async () => {
    const world = new GrantWorld();
    const grant = clientCredentials({ clientId: "nightly", clientSecret: "s3cret of nightly" });
    assertEquals(grant.isInteractive ?? false, false);
    assertEquals(grant.grantTypes, ["client_credentials"]);
    assertEquals((await world.obtain(grant)).accessToken, "the-access-token");
    assertEquals(world.seen.length, 1);
    const [seen] = world.seen;
    assertEquals(Object.fromEntries(seen?.form ?? []), {
      grant_type: "client_credentials",
      resource,
      scope: "files:read",
    });
    assertEquals(seen?.headers.get("authorization"), `Basic ${btoa("nightly:s3cret+of+nightly")}`);
  });

  test("no scopes, no resource: neither is asked for", async () => {
    const world = new GrantWorld({ scopes: [], resource: undefined });
    await world.obtain(clientCredentials({ clientId: "nightly", clientSecret: "s3cret of nightly" }));
    assertEquals(Object.fromEntries(world.forms(tokenEndpoint)[0] ?? []), { grant_type: "client_credentials" });
  });

  test("what the operator does with the object afterwards changes nothing", () => {
    const client = { clientId: "nightly", clientSecret: "s3cret", issuer: "https://auth.example.com" };
    const grant = clientCredentials(client);
    client.clientId = "another";
    assertEquals(grant.client, { clientId: "nightly", clientSecret: "s3cret", issuer: "https://auth.example.com" });
  });

  test("a refusal is not tried again", async () => {
    const world = new GrantWorld();
    world.servers.set(tokenEndpoint, () => refusal("invalid_client"));
    const grant = clientCredentials({ clientId: "nightly", clientSecret: "s3cret" });
    const error = await assertRejects(() => world.obtain(grant), AuthorizationError);
    assertEquals(error.error, "invalid_client");
    assertEquals(world.seen.length, 1);
  });

  test("a client that can prove nothing is refused at once, and so is nonsense; no secret is shown", () => {
    const bad: [unknown, string][] = [
      [{ clientId: "nightly" }, '"clientSecret" or "authenticate"'],
      [{ clientId: "nightly", clientSecret: "s3cret", authMethod: "none" }, '"clientSecret" or "authenticate"'],
      [{ clientId: "", clientSecret: "s3cret" }, '"clientId"'],
      [{ clientSecret: "s3cret" }, '"clientId"'],
      [{ clientId: 7, clientSecret: "s3cret" }, '"clientId"'],
      [{ clientId: "nightly", clientSecret: ["s3cret"] }, '"clientSecret"'],
      [{ clientId: "nightly", clientSecret: "" }, '"clientSecret"'],
      [{ clientId: "nightly", clientSecret: "s3cret", authMethod: "private_key_jwt" }, '"authMethod"'],
      [{ clientId: "nightly", authenticate: "s3cret" }, '"authenticate"'],
      [{ clientId: "nightly", clientSecret: "s3cret", issuer: "auth.example.com" }, '"issuer"'],
      [undefined, '"clientId"'],
    ];
    for (const [client, field] of bad) {
      const error = assertThrows(() => clientCredentials(client as OAuthClient), TypeError, field);
      assertEquals(error.message.includes("s3cret"), false);
    }
  });
});
