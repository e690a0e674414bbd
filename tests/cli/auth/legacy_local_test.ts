/** Servers of 2025-03-26, which are their own authorization servers, and the command. */
import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { assertFailure } from "../support.ts";
import { serveWorld } from "./served_world.ts";
import type { ServedWorld } from "./served_world.ts";

const nowhere = { header: false, path: false, root: false };

async function serveOld(hasMetadata: boolean): Promise<ServedWorld> {
  const served = await serveWorld(true);
  const { server, resource } = served.world;
  Object.assign(resource.knobs, { places: nowhere, challenges: ["Bearer"], takesUnbound: true });
  server.knobs.needsResource = false;
  server.knobs.places = { oauth: hasMetadata, openid: false, openidAppended: false, root: false };
  return served;
}

describe("causeway login at a server of 2025-03-26", () => {
  for (const hasMetadata of [true, false]) {
    test(`asks to be told so, and signs in (${hasMetadata ? "with" : "without"} metadata)`, async () => {
      await using served = await serveOld(hasMetadata);
      const { url, run, world } = served;
      const refused = await served.login();
      assertFailure(refused, 3, /try --legacy where it is of 2025-03-26/);
      assertEquals(world.log.count("/register"), 0);
      const done = await served.login("--legacy");
      assertEquals([done.code, world.log.tokens().length], [0, 1], done.err);
      const tools = await run(["tools", url]);
      assertEquals([tools.code, tools.err], [0, ""]);
    });
  }

  test("is signed in to again without being told", async () => {
    await using served = await serveOld(true);
    const { url, run, world } = served;
    assertEquals((await served.login("--legacy")).code, 0);
    world.server.issued.access.clear();
    world.server.issued.refresh.clear();
    assertFailure(await run(["tools", url]), 3, new RegExp(`Sign in first: causeway login ${url}`));
    assertEquals((await served.login()).code, 0);
    assertEquals((await run(["tools", url])).code, 0);
    assertEquals((await run(["logout", url])).code, 0);
    assertFailure(await served.login(), 3, /try --legacy/);
  });

  test("is none where the server names an authorization server", async () => {
    await using served = await serveWorld();
    const done = await served.login("--legacy");
    assertEquals(done.code, 0, done.err);
    assert(done.out.includes(`issuer ${served.issuer}`));
  });
});
