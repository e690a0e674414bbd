/** The document at the URL that is a client's id. */
import { describe, test } from "node:test";
import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { clientMetadataDocument, deviceCode, type OAuthOptions } from "../../../src/auth/mod.ts";
import { createParty } from "./parties.ts";

const options = {
  clientMetadataUrl: "https://app.example.com/client.json",
  redirectUri: "https://app.example.com/callback",
  clientMetadata: { client_name: "A test" },
} satisfies OAuthOptions;

describe("the document of a client", () => {
  test("says what servers need, and nothing else", () => {
    assertEquals(clientMetadataDocument(options), {
      client_id: "https://app.example.com/client.json",
      client_name: "A test",
      redirect_uris: ["https://app.example.com/callback"],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    });
  });

  test("is all that a server needs to know a client that signs in", async () => {
    const { world, oauth } = await createParty(options, { server: { registration: false, clientDocuments: true } });
    world.documents.set(options.clientMetadataUrl, clientMetadataDocument(options));
    const { clientId } = await oauth.signIn(world.resource.url);
    assertEquals([clientId, world.log.count("/register")], [options.clientMetadataUrl, 0]);
  });

  test("says what the application adds; its id stays the URL", () => {
    const redirect_uris = ["https://app.example.com/callback", "https://beta.example.com/callback"];
    const jwks = { keys: [{ kty: "EC", crv: "P-256", x: "eA", y: "eQ" }] };
    const added = {
      redirect_uris,
      jwks,
      token_endpoint_auth_method: "private_key_jwt",
      logo_uri: "https://x.example/l",
    };
    const clientMetadata = { ...options.clientMetadata, ...added, client_id: "https://other.example/client.json" };
    const document = clientMetadataDocument({ ...options, clientMetadata });
    assertEquals({ ...document, ...added }, document);
    assertEquals(document.client_id, options.clientMetadataUrl);
  });

  test("names the ways of a grant, each once", () => {
    const grant = deviceCode({ onCode: () => {} });
    assertEquals(clientMetadataDocument({ ...options, grant }).grant_types, grant.grantTypes);
  });

  const wrong: [what: string, options: OAuthOptions, expected: string][] = [
    ["no URL", { clientMetadataUrl: undefined }, '"clientMetadataUrl"'],
    ["a URL without a path", { clientMetadataUrl: "https://app.example.com" }, '"clientMetadataUrl"'],
    ["a URL without TLS", { clientMetadataUrl: "http://app.example.com/client.json" }, '"clientMetadataUrl"'],
    ["no redirect URI", { redirectUri: undefined }, '"redirectUri"'],
    ["no name", { clientMetadata: {} }, '"client_name"'],
    ["other redirect URIs alone", { clientMetadata: { redirect_uris: ["https://x.example/"] } }, '"redirect_uris"'],
    ["a secret", { clientMetadata: { client_secret: "s3cret-of-a-test" } }, "secret"],
    ["a way with a secret", { clientMetadata: { token_endpoint_auth_method: "client_secret_post" } }, "secret"],
    ["a private key", { clientMetadata: { jwks: { keys: [{ kty: "EC", d: "s3cret-of-a-test" }] } } }, "private key"],
    ["a shared key", { clientMetadata: { jwks: { keys: [{ kty: "oct", k: "s3cret-of-a-test" }] } } }, "private key"],
  ];
  for (const [what, own, expected] of wrong) {
    test(`is not made with ${what}`, () => {
      const clientMetadata = own.clientMetadata && Object.keys(own.clientMetadata).length
        ? { ...options.clientMetadata, ...own.clientMetadata }
        : own.clientMetadata ?? options.clientMetadata;
      const { message } = assertThrows(() => clientMetadataDocument({ ...options, ...own, clientMetadata }), TypeError);
      assertStringIncludes(message, expected);
      assertEquals(message.includes("s3cret"), false);
    });
  }
});
