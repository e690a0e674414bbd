/** What a client says of scopes when it registers: many servers let it ask for those alone ever after. */
import { describe, test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import { AuthorizationError } from "../../../src/protocol/errors.ts";
import { answerJson, refusal } from "../world/faults.ts";
import { soundRegistration } from "../world/server/knobs.ts";
import { issuer, resourceUrl, type World, type WorldOptions } from "../world/world.ts";
import { createParty } from "../sign_in/parties.ts";

const strict = { server: { registration: { ...soundRegistration(), limitsScopes: true } } };
const scoped: WorldOptions = { ...strict, resource: { scope: "mcp:use" } };

/** The scopes of each registration. */
function registered({ log }: World): unknown[] {
  return log.of("/register").map(({ body }) => JSON.parse(body).scope);
}

describe("the scopes of a registration", () => {
  test("are those that are asked for then", async () => {
    const { world, oauth } = await createParty({}, scoped);
    assertEquals((await oauth.signIn(resourceUrl)).scopes, ["mcp:use", "offline_access"]);
    assertEquals(registered(world), ["mcp:use offline_access"]);
  });

  test("grow when more is asked for: the client registers anew, once", async () => {
    const { world, oauth } = await createParty({}, scoped);
    await oauth.signIn(resourceUrl);
    await oauth.signIn(resourceUrl, { scopes: ["files:write"] });
    await oauth.signIn(resourceUrl, { scopes: ["files:write"] });
    assertEquals(registered(world), ["mcp:use offline_access", "mcp:use files:write offline_access"]);
  });

  test("are those of one resource: two of one server do not take turns", async () => {
    const { world, oauth } = await createParty({}, scoped);
    const url = "https://other.example.com/mcp";
    world.addResource({ url, servers: [world.server], knobs: { scope: "files:read" } });
    for (const server of [resourceUrl, url, resourceUrl, url]) await oauth.signIn(server);
    assertEquals(registered(world), ["mcp:use offline_access", "files:read offline_access"]);
  });

  test("are not named where none are asked for", async () => {
    const { world, oauth } = await createParty();
    await oauth.signIn(resourceUrl);
    assertEquals(registered(world), [undefined]);
  });

  test("are left to the program that names its own", async () => {
    const { world, oauth } = await createParty(
      { clientMetadata: { scope: "mcp:use files:read offline_access" } },
      scoped,
    );
    await oauth.signIn(resourceUrl);
    await oauth.signIn(resourceUrl, { scopes: ["files:read"] });
    assertEquals(registered(world), ["mcp:use files:read offline_access"]);
  });

  test("are left out for a server that refuses them", async () => {
    const { world, oauth } = await createParty({}, { resource: { scope: "mcp:use" } });
    const refused = answerJson({ error: "invalid_client_metadata", error_description: "Not permitted scope" }, 403);
    world.fault(({ url, body }) => url.pathname === "/register" && "scope" in JSON.parse(body), refused, 9);
    await oauth.signIn(resourceUrl);
    await oauth.signIn(resourceUrl);
    assertEquals(registered(world), ["mcp:use offline_access", undefined]);
  });

  test("are named once where the server is down", async () => {
    const { world, oauth } = await createParty({}, scoped);
    world.fault("/register", refusal("server_error", 503), 9);
    await assertRejects(
      () => oauth.signIn(resourceUrl),
      AuthorizationError,
      `Cannot register at "${issuer}": it answered 503`,
    );
    assertEquals(registered(world), ["mcp:use offline_access"]);
  });
});
