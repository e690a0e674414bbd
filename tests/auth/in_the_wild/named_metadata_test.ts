/** Servers that name a place of their metadata where it is not: their usual places have it. */
import { describe, test } from "node:test";
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { AuthorizationError } from "../../../src/protocol/errors.ts";
import { answer, type Fault, notJson } from "../world/faults.ts";
import { resourceUrl } from "../world/world.ts";
import { createParty } from "../sign_in/parties.ts";

// The path twice, as some servers that are mounted below one have it.
const named = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp/mcp";
const usual = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp";

describe("metadata that is not where a challenge names it", () => {
  const faults: Readonly<Record<string, Fault>> = { "404": answer(404), "401": answer(401), "a page": notJson };
  for (const [what, fault] of Object.entries(faults)) {
    for (const isAtRoot of [false, true]) {
      test(`is found ${isAtRoot ? "at the root" : "at the server's path"} (${what} is there)`, async () => {
        const places = { header: false, path: !isAtRoot, root: isAtRoot };
        const { world, oauth } = await createParty({}, { resource: { metadataUrl: { text: named }, places } });
        world.fault(named, fault);
        assertEquals((await oauth.signIn(resourceUrl)).resource, resourceUrl);
        assertEquals(world.log.metadata().slice(0, 2).map(({ url }) => url.href), [named, usual]);
      });
    }
  }

  test("is not looked for elsewhere where that place is down", async () => {
    const { world, oauth } = await createParty({}, { resource: { metadataUrl: { text: named } } });
    world.fault(named, answer(503));
    await assertRejects(() => oauth.signIn(resourceUrl), AuthorizationError, "got status 503");
    assertEquals(world.log.metadata().map(({ url }) => url.href), [named]);
  });

  test("is told with that place where no other has it", async () => {
    const places = { header: false, path: false, root: false };
    const { oauth } = await createParty({}, { resource: { metadataUrl: { text: named }, places } });
    const { message } = await assertRejects(() => oauth.signIn(resourceUrl), AuthorizationError);
    assertStringIncludes(message, `Cannot read the resource metadata at "${named}": got status 404`);
  });

  test("is no server of 2025-03-26, which names no place", async () => {
    const places = { header: false, path: false, root: false };
    const { world, another } = await createParty({}, { resource: { metadataUrl: { text: named }, places } });
    const oauth = another({ fallback: () => Promise.reject(new Error("it was asked")) });
    await assertRejects(() => oauth.signIn(resourceUrl), AuthorizationError, `metadata at "${named}"`);
    assertEquals(world.person.visits, []);
  });
});
