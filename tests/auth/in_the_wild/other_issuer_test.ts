/**
 * Authorization servers whose documents name them by another issuer than resources do (Google's with and without a slash, Atlassian's
 * without its path): they are refused, unless the operator names that issuer.
 */
import { describe, test } from "node:test";
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { AuthorizationError } from "../../../src/protocol/errors.ts";
import { issuer, redirectUri, resourceUrl, type WorldOptions } from "../world/world.ts";
import { createParty } from "../sign_in/parties.ts";

/** A server that the resource names by one issuer, and that names itself by another. */
const naming = (named: string, own: string): WorldOptions => ({
  issuer: own,
  resource: { metadata: { authorization_servers: [named] } },
});
const worlds: Readonly<Record<string, WorldOptions>> = {
  "a slash less": naming(`${issuer}/`, issuer),
  "a slash more": naming(issuer, `${issuer}/`),
  "no path": {
    ...naming(`${issuer}/tenant`, issuer),
    server: { metadata: {}, places: { oauth: true, openid: false, openidAppended: false, root: false } },
  },
};

describe("an authorization server that names itself with", () => {
  for (const [what, options] of Object.entries(worlds)) {
    const own = options.issuer ?? issuer;
    const arrange = async (more: object) => {
      const party = await createParty(more, options);
      if (what === "no path") {
        const place = `${issuer}/.well-known/oauth-authorization-server`;
        party.world.fault(`${place}/tenant`, async () => await party.world.fetch(place, {}), 9);
      }
      return party;
    };

    test(`${what}: is refused, and the error says what to do`, async () => {
      const { oauth, world } = await arrange({});
      const { message } = await assertRejects(() => oauth.signIn(resourceUrl), AuthorizationError);
      assertStringIncludes(message, `is "${own}"; if that is right, name it in "issuers"`);
      assertEquals([world.log.count("/register"), world.person.visits.length], [0, 0]);
    });

    test(`${what}: is signed in to by who names that issuer`, async () => {
      const { world, oauth, open } = await arrange({ issuers: [own] });
      await using client = await open();
      await client.listTools();
      assertEquals((await oauth.status(resourceUrl))?.issuer, own);
      await world.clock.advance(3_600_000);
      await client.listTools();
      assertEquals(world.person.visits.length, 1);
    });

    test(`${what}: is signed in to as a client of that issuer`, async () => {
      const { world, open } = await arrange({
        client: { clientId: "known", clientSecret: "s3cret-of-known", issuer: own },
      });
      world.server.clients.add({ id: "known", secret: "s3cret-of-known", redirectUris: [redirectUri] });
      await using client = await open();
      assertEquals((await client.listTools()).tools.length, 2);
    });
  }

  test("an issuer of another origin: is refused, whoever names it", async () => {
    const evil = "https://evil.example.com";
    const { world, oauth } = await createParty(
      { issuers: [issuer], client: { clientId: "known", clientSecret: "s3cret-of-known", issuer } },
      { resource: { metadata: { authorization_servers: [evil] } } },
    );
    world.documents.set(`${evil}/.well-known/oauth-authorization-server`, {
      issuer,
      authorization_endpoint: `${evil}/authorize`,
      token_endpoint: `${evil}/token`,
      code_challenge_methods_supported: ["S256"],
    });
    const { message } = await assertRejects(() => oauth.signIn(resourceUrl), AuthorizationError);
    assertEquals(message.includes("issuers"), false, message);
    assertEquals([world.person.visits, world.log.tokens()], [[], []]);
  });

  const pages: Readonly<Record<string, readonly [name: string, place: string]>> = {
    "": ["~evil", "/~evil/.well-known/openid-configuration"],
    // Servers that read such a path after they have taken the escapes out of it, or its parameters, show the page of "~evil".
    ", by a path with escapes": ["..%2f..%2f~evil", "/.well-known/oauth-authorization-server/..%2f..%2f~evil"],
    ", by a path with dots": ["..;/..;/~evil", "/.well-known/oauth-authorization-server/..;/..;/~evil"],
  };
  for (const [how, [name, place]] of Object.entries(pages)) {
    test(`a page of somebody else below the same origin cannot speak for it${how}`, async () => {
      const evil = "https://evil.example.com";
      const { world, oauth } = await createParty(
        { client: { clientId: "known", clientSecret: "s3cret-of-known", issuer } },
        { resource: { metadata: { authorization_servers: [`${issuer}/${name}`] } } },
      );
      const forged = {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${evil}/token`,
        code_challenge_methods_supported: ["S256"],
      };
      world.fault(issuer + place, () => Promise.resolve(Response.json(forged)), 9);
      world.server.clients.add({ id: "known", secret: "s3cret-of-known", redirectUris: [redirectUri] });
      await oauth.signIn(resourceUrl);
      assertEquals(world.log.all.filter(({ url }) => url.origin === evil).length, 0);
    });
  }
});
