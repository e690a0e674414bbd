/** Signing out, where somebody gives up on it. */
import { describe, test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import { until } from "../../support/clients.ts";
import { gate, silence } from "../world/faults.ts";
import { resourceUrl } from "../world/world.ts";
import { createParty } from "./parties.ts";

/** Turns that are waited for what is hashed on other threads: they may be making keys for other tests. */
const patience = 5_000;
/** The reason of who gives up. */
const enough = new Error("enough");

describe("signing out", () => {
  test("a revocation that is never answered ends with the signal: the tokens are forgotten here", async () => {
    const { world, oauth } = await createParty();
    await oauth.signIn(resourceUrl);
    world.fault("/revoke", silence);
    const caller = new AbortController();
    const out = assertRejects(() => oauth.signOut(resourceUrl, { signal: caller.signal }), Error, "enough");
    await until(() => world.log.all.at(-1)?.url.pathname === "/revoke", patience);
    caller.abort(enough);
    await out;
    assertEquals(world.log.all.at(-1)?.signal?.aborted, true);
    assertEquals([await oauth.status(resourceUrl), await oauth.signOut(resourceUrl)], [undefined, undefined]);
  });

  test("without a signal it ends by the time of one request", async () => {
    const { world, oauth } = await createParty({ timeout: 3_000 });
    await oauth.signIn(resourceUrl);
    world.fault("/revoke", silence);
    const out = oauth.signOut(resourceUrl);
    await until(() => world.log.all.at(-1)?.url.pathname === "/revoke", patience);
    assertEquals(await world.clock.until(out), { revoked: false });
  });

  test("who gives up while the tokens are renewed leaves them as they are", async () => {
    const { world, oauth } = await createParty();
    await oauth.signIn(resourceUrl);
    await world.clock.advance(3_600_000);
    const { fault, release } = gate();
    world.fault(({ form }) => form.get("grant_type") === "refresh_token", fault);
    const call = oauth.wrap(world.fetch, resourceUrl)(resourceUrl, { method: "POST", body: "{}" });
    await until(() => world.log.all.at(-1)?.url.pathname === "/token", patience);
    const caller = new AbortController();
    const out = assertRejects(() => oauth.signOut(resourceUrl, { signal: caller.signal }), Error, "enough");
    caller.abort(enough);
    await out;
    release();
    await (await call).body?.cancel();
    assertEquals((await oauth.status(resourceUrl))?.server, resourceUrl);
  });

  test("a signal that is aborted already signs nobody out", async () => {
    const { world, oauth } = await createParty();
    await oauth.signIn(resourceUrl);
    const before = world.log.all.length;
    await assertRejects(() => oauth.signOut(resourceUrl, { signal: AbortSignal.abort(enough) }), Error, "enough");
    assertEquals([world.log.all.length, (await oauth.status(resourceUrl))?.server], [before, resourceUrl]);
  });
});
