/** Servers differ within what the specifications allow, and a little beyond: signing in works at all of them. */
import { assertEquals } from "@std/assert";
import { describe, test } from "node:test";
import { createDpop, type OAuthOptions } from "../../../src/auth/mod.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { soundRegistration } from "../world/server/knobs.ts";
import { issuer, redirectUri, resourceUrl, type World, type WorldOptions } from "../world/world.ts";
import { createParty } from "./parties.ts";

const nowhere = { oauth: false, openid: false, openidAppended: false, root: false };
const tenant = `${issuer}/tenant`;
const documentUrl = "https://app.example.com/client.json";
const byUrl = { clientMetadataUrl: documentUrl };

const cases: Readonly<Record<string, WorldOptions & { readonly options?: OAuthOptions }>> = {
  "all as it should be": {},
  "metadata of OpenID Connect": { server: { places: { ...nowhere, openid: true } } },
  "an issuer with a path": { issuer: tenant },
  "an issuer with a path, OpenID Connect before it": {
    issuer: tenant,
    server: { places: { ...nowhere, openid: true } },
  },
  "an issuer with a path, OpenID Connect after it": {
    issuer: tenant,
    server: { places: { ...nowhere, openidAppended: true } },
  },
  "metadata where the challenge says": { resource: { places: { header: true, path: false, root: false } } },
  "a challenge that does not say where": { resource: { metadataUrl: "absent" } },
  "metadata at the root alone": {
    resource: { metadataUrl: "absent", places: { header: false, path: false, root: true } },
  },
  "no challenge at all": { resource: { challenges: [] } },
  "a challenge that is none": { resource: { challenges: ['Bearer ,,, ="', "nonsense"] } },
  "a challenge without quotes": { resource: { quoting: "token", scope: "mcp:use" } },
  "a challenge with too many escapes": { resource: { quoting: "escaped", scope: "mcp:use" } },
  "a challenge with too many blanks": { resource: { quoting: "spaced", scope: "mcp:use" } },
  "a challenge among others": {
    resource: { before: ['Basic realm="a, Bearer scope=x"', "Negotiate abc=="], after: ["Digest realm=x"] },
  },
  "a resource that names its origin": { resource: { resource: "https://mcp.example.com" } },
  "a resource that names its origin with a slash": { resource: { resource: "https://mcp.example.com/" } },
  "a server that does not name itself in callbacks": { server: { iss: "absent" } },
  "token replies that are forms": { server: { reply: "form" } },
  "times that are texts": { server: { expiresIn: "text" } },
  "times that are not told": { server: { expiresIn: "absent" } },
  "scopes that are not told": { server: { tellsScope: false } },
  "a token type in capitals": { server: { tokenType: "BEARER" } },
  "no refresh tokens": { server: { refresh: "none" } },
  "secrets in the body": {
    server: {
      authMethods: ["client_secret_post"],
      registration: { ...soundRegistration(), authMethod: "client_secret_post" },
    },
  },
  "secrets in the header": {
    server: {
      authMethods: ["client_secret_basic"],
      registration: { ...soundRegistration(), authMethod: "client_secret_basic" },
    },
  },
  "ways to authenticate that are not told": {
    server: { metadata: { token_endpoint_auth_methods_supported: undefined } },
  },
  "a client that is a document": { server: { registration: false }, options: byUrl },
  "a client that is a document, where those are not known": { server: { clientDocuments: false }, options: byUrl },
  "an authorization endpoint with a query of its own": {
    server: { metadata: { authorization_endpoint: `${issuer}/authorize?client_id=another&theme=dark` } },
  },
  "a key that the server does not ask for": { server: { dpop: "off" }, options: { dpop: createDpop() } },
};

/** Requests that hold a secret, and are none that have to. */
function strays({ log, server, resource }: World): string[] {
  const { codes, access, refresh } = server.issued;
  const homes: [Iterable<string>, string][] = [
    [codes.keys(), server.url("token")],
    [access.keys(), resource.url],
    [refresh.keys(), server.url("token")],
  ];
  return homes.flatMap(([secrets, home]) => {
    const held = [...secrets].flatMap((secret) => log.holding(secret));
    return held.map(({ url }) => url.href).filter((url) => url !== home);
  });
}

describe("signing in works with", () => {
  for (const [name, { options, ...worldOptions }] of Object.entries(cases)) {
    test(name, async () => {
      const { world, oauth, open } = await createParty(options, worldOptions);
      const uris = { redirect_uris: [redirectUri], grant_types: ["authorization_code", "refresh_token"] };
      world.documents.set(documentUrl, { client_id: documentUrl, ...uris });
      await using client = await open();
      const { content } = await client.callTool("echo", { text: "hello" });
      assertEquals(content, [{ type: "text", text: "echo: hello" }]);
      assertEquals([world.person.visits.length, world.log.tokens().length], [1, 1]);
      assertEquals(strays(world), []);
      const origins = new Set(world.log.all.map(({ url }) => url.origin));
      assertEquals([...origins].toSorted(), ["https://auth.example.com", "https://mcp.example.com"]);
      assertEquals((await oauth.status(resourceUrl))?.resource, world.resource.knobs.resource);
    });
  }

  test("a server that wants keys, and nonces at both ends", async () => {
    const clock = new VirtualClock();
    const { world, open } = await createParty({ dpop: createDpop({ clock }) }, { clock, server: { dpop: "needed" } });
    Object.assign(world.server.proofs, { nonce: "one" });
    Object.assign(world.resource.proofs, { nonce: "two" });
    world.resource.knobs.dpop = "needed";
    await using client = await open();
    Object.assign(world.resource.proofs, { nonce: "three" });
    const { content } = await client.callTool("echo", { text: "hello" });
    assertEquals(content, [{ type: "text", text: "echo: hello" }]);
    assertEquals(world.log.tokens().map(({ status }) => status), [400, 200]);
    assertEquals(world.person.visits.length, 1);
  });
});
