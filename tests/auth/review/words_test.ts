/** What people are told: what they need to know, and no secret. */
import { describe, test } from "node:test";
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { clientCredentials, createOAuth, deviceCode } from "../../../src/auth/mod.ts";
import { AuthorizationError } from "../../../src/protocol/errors.ts";
import { createParty } from "../sign_in/parties.ts";
import { answer } from "../world/faults.ts";
import { createWorld, issuer, resourceUrl } from "../world/world.ts";

describe("what people are told", () => {
  test("which issuer a document names in the place of the one that was looked for", async () => {
    const { oauth } = await createParty({}, { server: { metadata: { issuer: `${issuer}/` } } });
    const error = await assertRejects(() => oauth.signIn(resourceUrl), AuthorizationError);
    assertStringIncludes(error.message, `/.well-known/oauth-authorization-server" is "${issuer}/"`);
  });

  test("that the authorization server failed, and that it may work later", async () => {
    const { world, oauth } = await createParty();
    world.fault(({ url }) => url.origin === issuer, answer(503), 2);
    const error = await assertRejects(() => oauth.signIn(resourceUrl), AuthorizationError);
    assertStringIncludes(error.message, "answered 503");
    assertEquals(error.retryable, true);
  });

  test("nothing of the query of a server's address", async () => {
    const secret = "k3y-0f-the-t3nant";
    const url = `${resourceUrl}?api_key=${secret}`;
    const lines: string[] = [];
    const logger = (line: object) => void lines.push(JSON.stringify(line));
    const { world, oauth, another } = await createParty({ logger, authorize: undefined });
    const said = async (work: Promise<unknown>) => {
      const error = await assertRejects(() => work, Error);
      assertEquals(error.message.includes(secret), false, error.message);
    };
    await said(oauth.signIn(url));
    const onlyDevice = another({ grant: deviceCode({ onCode: () => {} }) });
    await said(onlyDevice.wrap(world.fetch, url)(url, { method: "POST", body: "{}" }));
    world.resource.knobs.places = { header: false, path: false, root: false };
    await said(oauth.signIn(url));
    world.resource.knobs.places = { header: false, path: true, root: false };
    world.resource.knobs.metadata = { resource: "https://else.example.com" };
    await said(oauth.signIn(url));
    world.resource.knobs.metadata = {};
    const person = another({ authorize: world.person.authorize });
    await person.signIn(url);
    world.fault("/revoke", answer(500));
    await person.signOut(url);
    assertEquals(lines.length, 1);
    assertEquals(lines.join().includes(secret), false);
  });

  test("a password in the address of a server is refused, and not repeated", async () => {
    const error = await assertRejects(() => createOAuth().begin("https://me:hunter22@mcp.example.com/"), TypeError);
    assertEquals(error.message.includes("hunter22"), false, error.message);
  });

  test("tokens of a grant are renewed without a person", async () => {
    const world = await createWorld();
    const client = { clientId: "nightly", clientSecret: "a-secret-of-its-own" };
    world.server.clients.add({
      id: client.clientId,
      secret: client.clientSecret,
      authMethod: "client_secret_basic",
      grantTypes: ["client_credentials"],
    });
    const oauth = createOAuth({ grant: clientCredentials(client), fetch: world.fetch, clock: world.clock });
    assertEquals((await oauth.signIn(resourceUrl)).refreshable, true);
  });
});
