/** Sites that have something else at a usual place of metadata: what stands at the next place counts. */
import { describe, test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import { legacyDiscovery } from "../../../src/auth/mod.ts";
import { AuthorizationError, LimitExceededError, RedirectRefusedError } from "../../../src/protocol/errors.ts";
import { type Fault, huge, redirect } from "../world/faults.ts";
import { issuer, resourceUrl, type WorldOptions } from "../world/world.ts";
import { createParty } from "../sign_in/parties.ts";

const insecure = redirect("http://login.example.com/", 302);
const hop = redirect("https://mcp.example.com/login", 302);
// Each leads to the next one, as single sign-on does.
const pages: Readonly<Record<string, Fault>> = {
  "a redirect to a page without TLS": insecure,
  "a redirect that never ends": hop,
  "a page that is too long": huge(300_000),
};
const nowhere = { oauth: false, openid: false, openidAppended: false, root: false };
const resourcePlace = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp";
const serverPlace = `${issuer}/.well-known/oauth-authorization-server`;
const cases: Readonly<Record<string, readonly [place: string, found: WorldOptions]>> = {
  "the metadata of the resource": [
    resourcePlace,
    { resource: { metadataUrl: "absent", places: { header: false, path: false, root: true } } },
  ],
  "the metadata of the server": [serverPlace, { server: { places: { ...nowhere, openid: true } } }],
};

describe("something else at the first place of", () => {
  for (const [what, [place, found]] of Object.entries(cases)) {
    for (const [page, fault] of Object.entries(pages)) {
      test(`${what}: ${page}`, async () => {
        const { world, oauth } = await createParty({}, found);
        world.fault(place, fault, 9);
        world.fault("https://mcp.example.com/login", hop, 9);
        assertEquals((await oauth.signIn(resourceUrl)).issuer, issuer);
      });
    }
  }

  for (const [page, fault] of Object.entries(pages)) {
    test(`all, at a server of 2025-03-26, which has none: ${page}`, async () => {
      const { world, oauth } = await createParty({ fallback: legacyDiscovery }, {
        issuer: "https://mcp.example.com",
        resource: { places: { header: false, path: false, root: false }, takesUnbound: true },
        server: { needsResource: false },
      });
      // Of what it does not know it shows its front page.
      world.fault(({ url }) => url.pathname.startsWith("/.well-known/oauth-protected-resource"), fault, 9);
      world.fault("https://mcp.example.com/login", hop, 9);
      assertEquals((await oauth.signIn(resourceUrl)).issuer, "https://mcp.example.com");
    });
  }

  test("all: what was wrong first is told", async () => {
    const { world, oauth } = await createParty();
    world.fault(serverPlace, insecure, 9);
    await assertRejects(() => oauth.signIn(resourceUrl), RedirectRefusedError, "from https to http");
    const other = await createParty();
    other.world.fault(resourcePlace, huge(300_000), 9);
    await assertRejects(() => other.oauth.signIn(resourceUrl), LimitExceededError);
  });

  test("a document with another issuer: how to take it for right is told", async () => {
    const { world, oauth } = await createParty({}, {
      resource: { metadata: { authorization_servers: [`${issuer}/`] } },
      server: { places: { ...nowhere, openid: true } },
    });
    world.fault(serverPlace, insecure, 9);
    await assertRejects(() => oauth.signIn(resourceUrl), AuthorizationError, `is "${issuer}"; if that is right`);
  });
});
