/** Options of `createOAuth` that make no sense are refused at once, by their names. */
import { describe, test } from "node:test";
import { assertStringIncludes, assertThrows } from "@std/assert";
import { createOAuth, type OAuthOptions } from "../../src/auth/mod.ts";

const wrong: Readonly<Record<string, readonly OAuthOptions[]>> = {
  client: ["id", ["id"], { client_id: "id" }, { clientId: "" }].map((client) => ({ client }) as object),
  redirectUri: [
    ...["http://app.example.com/callback", "http://localhost.example.com/callback", "https://app.example.com/#a"],
    ...["callback", "", "javascript:alert(1)", "data:text/html,hello", "file:///callback", "vbscript:x"],
    // That they name this machine makes them no better.
    ...["javascript://localhost/%0aalert(1)", "data://127.0.0.1/x", "file://localhost/callback"],
  ].map((redirectUri) => ({ redirectUri })),
  clientMetadataUrl: [
    ...["https://app.example.com", "https://app.example.com/", "http://app.example.com/client.json"],
    ...[" https://app.example.com/client.json", "https://app.example.com/client.json#a", "app.example.com/client.json"],
  ].map((clientMetadataUrl) => ({ clientMetadataUrl })),
  scopes: ["", "two words", 'a"b', "a\\b", "a\nb", "é"].map((scope) => ({ scopes: ["read", scope] })),
  stepUps: [-1, NaN].map((stepUps) => ({ stepUps })),
  timeout: [-1, NaN].map((timeout) => ({ timeout })),
};

describe("options of a sign-in", () => {
  for (const [name, all] of Object.entries(wrong)) {
    test(`${name}: what makes no sense`, () => {
      for (const options of all) {
        const { message } = assertThrows(() => createOAuth(options), TypeError, `Cannot use "${name}"`);
        assertStringIncludes(message, "expected");
      }
    });
  }

  test("what does", () => {
    const places = ["http://127.0.0.1:8085/callback", "http://[::1]/callback", "http://localhost/callback"];
    for (const redirectUri of [...places, "https://app.example.com/callback?a=b", "com.example.app:/callback"]) {
      createOAuth({
        redirectUri,
        clientMetadataUrl: "https://app.example.com/client.json",
        scopes: ["files:read", "!~"],
      });
    }
    createOAuth({ stepUps: 0, timeout: 0, scopes: [], client: [] });
    createOAuth({ client: { clientId: "a" } });
    createOAuth({ client: [{ clientId: "a" }, { clientId: "b", issuer: "https://as.example.com" }] });
  });
});
