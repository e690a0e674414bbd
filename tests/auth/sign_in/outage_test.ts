/** An authorization server that is down says so: it is no server without metadata, and it may be asked again. */
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { describe, test } from "node:test";
import { createMemoryStore, legacyDiscovery } from "../../../src/auth/mod.ts";
import { AuthorizationError } from "../../../src/protocol/errors.ts";
import { answer } from "../world/faults.ts";
import { issuer, resourceUrl } from "../world/world.ts";
import { createParty } from "./parties.ts";

describe("a server that is down", () => {
  test("while its metadata is fetched", async () => {
    const { world, oauth } = await createParty();
    world.fault((seen) => seen.url.origin === issuer, answer(503), 100);
    const error = await assertRejects(() => oauth.signIn(resourceUrl), AuthorizationError);
    assertStringIncludes(error.message, "503");
    assertEquals([error.retryable, world.person.visits.length], [true, 0]);
  });

  test("while its metadata is fetched, as a server of 2025-03-26: no address is guessed", async () => {
    const nowhere = { header: false, path: false, root: false };
    const { world, oauth } = await createParty({ fallback: legacyDiscovery }, {
      issuer: "https://mcp.example.com",
      resource: { places: nowhere, takesUnbound: true },
      server: { needsResource: false },
    });
    world.fault("/.well-known/oauth-authorization-server", answer(503), 100);
    const error = await assertRejects(() => oauth.signIn(resourceUrl), AuthorizationError);
    assertStringIncludes(error.message, "503");
    assertEquals([error.retryable, world.log.count("/register")], [true, 0]);
  });
});

describe("a step-up while the server is away", () => {
  for (const path of ["/token", "/.well-known/oauth-authorization-server"]) {
    test(`is no answer of its person: they are asked again once it is back (${path})`, async () => {
      const needs = ({ name }: { name: string }) => name === "write" ? ["files:write"] : [];
      const { world, open } = await createParty({}, { resource: { scope: "mcp:use", needs } });
      await using client = await open();
      let isDown = true;
      world.fault(({ url }) => isDown && url.pathname.endsWith(path), answer(503), 100);
      for (let count = 0; count < 3; count++) {
        await assertRejects(() => client.callTool("write", { text: "a" }), AuthorizationError, "503");
        await world.clock.advance(31_000);
      }
      isDown = false;
      const { content } = await client.callTool("write", { text: "a" });
      assertEquals(content, [{ type: "text", text: "written: a" }]);
    });
  }

  test("shows a page once in 30 s", async () => {
    const needs = ({ name }: { name: string }) => name === "write" ? ["files:write"] : [];
    const { world, open } = await createParty({}, { resource: { scope: "mcp:use", needs } });
    await using client = await open();
    world.fault("/token", answer(503), 3);
    for (let count = 0; count < 3; count++) {
      await assertRejects(() => client.callTool("write", { text: "a" }), AuthorizationError, "503");
    }
    assertEquals(world.person.visits.length, 2);
  });
});

describe("what is not the server's fault", () => {
  test("a store that is down: the call was not sent, and what it says is told", async () => {
    const store = createMemoryStore();
    let isDown = false;
    const get = (key: string) => isDown ? Promise.reject(new Error("redis is away")) : store.get(key);
    const { open, another, world } = await createParty({ store: { ...store, get } });
    await using first = await open();
    const { verdict } = first;
    isDown = true;
    const sent = world.log.count("/mcp");
    await using client = await open({ verdict }, another());
    const error = await assertRejects(() => client.callTool("whoami"), AuthorizationError);
    assertEquals([error.delivery, error.message], [
      "not-sent",
      `Cannot get a token for "${resourceUrl}": redis is away`,
    ]);
    assertEquals(world.log.count("/mcp"), sent);
  });

  test("an `authorize` that fails is asked once, and what it says is told", async () => {
    let asked = 0;
    const authorize = () => {
      asked++;
      throw new Error("the window was closed");
    };
    const { open } = await createParty({ authorize });
    const error = await assertRejects(() => open(), AuthorizationError, "the window was closed");
    assertEquals([error.delivery, error.retryable, asked], ["not-sent", false, 1]);
  });
});
