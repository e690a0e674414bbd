/** How clients of grants authenticate. */
import { describe, test } from "node:test";
import { assertEquals, assertStrictEquals } from "@std/assert";
import { authenticationOf } from "../../../src/auth/authentication.ts";
import type { OAuthClient } from "../../../src/auth/seam.ts";

async function shown(client: OAuthClient, supported?: unknown) {
  const [body, headers] = [new URLSearchParams(), new Headers()];
  const server = { issuer: "https://auth.example.com" };
  await authenticationOf(client, supported)(server, { client_id: client.clientId }, body, headers);
  return { form: Object.fromEntries(body), basic: headers.get("authorization") };
}

const client = { clientId: "editor", clientSecret: "s3cret" };
const basic = { form: {}, basic: `Basic ${btoa("editor:s3cret")}` };
const posted = { form: { client_id: "editor", client_secret: "s3cret" }, basic: null };
const open = { form: { client_id: "editor" }, basic: null };

describe("how a client authenticates", () => {
  test("as the server supports it, Basic first; as it says itself, before that", async () => {
    assertEquals(await shown(client), basic);
    assertEquals(await shown(client, ["client_secret_post"]), posted);
    assertEquals(await shown(client, ["client_secret_post", "client_secret_basic"]), basic);
    assertEquals(await shown(client, ["private_key_jwt"]), basic);
    for (const nonsense of ["client_secret_post", 7, null, {}]) assertEquals(await shown(client, nonsense), basic);
    assertEquals(await shown({ ...client, authMethod: "client_secret_post" }), posted);
    assertEquals(await shown({ ...client, authMethod: "client_secret_basic" }, ["client_secret_post"]), basic);
    assertEquals(await shown({ ...client, authMethod: "none" }), open);
    assertEquals(await shown({ clientId: "editor" }, ["client_secret_basic"]), open);
    const authenticate = (): void => {};
    assertStrictEquals(authenticationOf({ ...client, authenticate }, []), authenticate);
  });

  test("Basic is encoded as forms are, and no more: many servers take it as it is", async () => {
    const names: [string, string][] = [
      ["my-client_1.0", "my-client_1.0"],
      ["a:b c", "a%3Ab+c"],
      ["https://app.example.com/client.json", "https%3A%2F%2Fapp.example.com%2Fclient.json"],
      ["gerät%+", "ger%C3%A4t%25%2B"],
    ];
    for (const [name, written] of names) {
      const { basic } = await shown({ clientId: name, clientSecret: name });
      assertEquals(atob(basic?.slice(6) ?? ""), `${written}:${written}`);
    }
  });
});
