/** What people are told: what they need to know, and no secret. */
import { describe, test } from "node:test";
import { assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { clientCredentials, createOAuth, deviceCode } from "../../../src/auth/mod.ts";
import { AuthorizationError, AuthorizationRequiredError } from "../../../src/protocol/errors.ts";
import { createParty } from "../sign_in/parties.ts";
import { answer, answerJson } from "../world/faults.ts";
import { createWorld, issuer, resourceUrl } from "../world/world.ts";

test("a time without an end, or that is none, is refused by its name", () => {
  for (const timeout of [Infinity, NaN, -1]) {
    const error = assertThrows(() => createOAuth({ timeout }), TypeError);
    assertEquals(error.message, `Cannot use "timeout" "${timeout}": expected 0 or more milliseconds`);
  }
});

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

  const words: Readonly<Record<string, object>> = {
    "an object": { error: { type: "invalid_request_error", message: "the client is asleep" } },
    "a message": { status: "BAD_CLIENT", message: "the client is asleep" },
    "a msg": { code: 400, msg: "the client is asleep" },
    "a message beside a list": { error: ["x"], error_description: null, message: "the client is asleep" },
    "a detail": { detail: "the client is asleep" },
    "a description": { error: "invalid_grant", error_description: "the client is asleep", message: "else" },
  };
  for (const [where, body] of Object.entries(words)) {
    for (const place of ["/token", "/register"]) {
      test(`why ${place} refuses, where the server tells it in ${where}`, async () => {
        const { world, oauth } = await createParty();
        world.fault(place, answerJson(body, 400), 9);
        const error = await assertRejects(() => oauth.signIn(resourceUrl), AuthorizationError);
        assertStringIncludes(error.message, "the client is asleep");
        assertEquals(error.message.includes("[object"), false);
      });
    }
  }

  test("what was expected of a registration, however much a server says of why it refuses", async () => {
    const { world, oauth } = await createParty();
    world.fault("/register", answerJson({ error: "access_denied", error_description: "no ".repeat(300) }, 403), 9);
    const { message } = await assertRejects(() => oauth.signIn(resourceUrl), AuthorizationError);
    assertStringIncludes(message, "it answered 403 access_denied no no no");
    assertEquals(message.endsWith(', expected a "client_id"'), true, message);
  });

  test("why a token is refused that was got just now, where nobody is there", async () => {
    const { world, oauth, another } = await createParty();
    await oauth.signIn(resourceUrl);
    const [token = ""] = world.server.issued.access.keys();
    const challenge = `Bearer error="invalid_token", error_description="${token} is for another audience"`;
    Object.assign(world.resource.knobs, {
      challenges: [challenge],
      metadata: { resource: resourceUrl },
      resource: "none",
    });
    const call = (options = {}) =>
      another({ authorize: undefined, ...options }).wrap(world.fetch, resourceUrl)(resourceUrl, {
        method: "POST",
        body: "{}",
      });
    const refused = await assertRejects(() => call(), AuthorizationRequiredError);
    assertEquals(refused.cause, 'it refused the token: "[redacted] is for another audience"');
    const first = await assertRejects(() => call({ subject: "eve" }), AuthorizationRequiredError);
    assertEquals(first.cause, undefined);
  });

  test("no refusal of a token where none was sent", async () => {
    const { world, oauth } = await createParty({ authorize: undefined });
    const challenge = 'Bearer error="invalid_token", error_description="Authentication required"';
    Object.assign(world.resource.knobs, {
      challenges: [challenge],
      places: { header: false, path: true, root: false },
    });
    const { cause } = await assertRejects(() => oauth.signIn(resourceUrl), AuthorizationRequiredError);
    assertEquals(cause, undefined);
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
