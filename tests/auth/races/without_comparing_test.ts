/** Steps that two take at once, over a store that cannot compare: within one process one of them is first. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { describe, test } from "node:test";
import { createOAuth } from "../../../src/auth/mod.ts";
import { createWorld, redirectUri, resourceUrl } from "../world/world.ts";
import { RestlessStore } from "./race.ts";

describe("over a store that cannot compare", () => {
  test("a callback that comes twice at once is exchanged once", async () => {
    const world = await createWorld({ handler: () => new Response("{}") });
    const store = new RestlessStore(world.clock);
    const { fetch, clock } = world;
    const oauth = createOAuth({ redirectUri, store: store.withoutComparing(), fetch, clock });
    const { authorizationUrl } = await oauth.begin(resourceUrl);
    const callback = await world.person.follow(authorizationUrl);
    store.latency = () => 20;
    const done = await clock.until(Promise.allSettled([oauth.finishAuth(callback), oauth.finishAuth(callback)]));
    assertEquals(done.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
    assertEquals(world.log.tokens("authorization_code").length, 1);
    store.latency = () => 0;
    const response = await oauth.wrap(fetch, resourceUrl)(resourceUrl, { method: "POST", body: "{}" });
    assertEquals(response.status, 200);
  });

  test("a client without an issuer is shown to one authorization server, also when two want it at once", async () => {
    const world = await createWorld({ handler: () => new Response("{}") });
    const url = "https://second.example.com/mcp";
    const servers = [await world.addServer("https://other.example.org")];
    world.addResource({ url, servers, handler: () => new Response("{}") });
    const store = new RestlessStore(world.clock);
    store.latency = () => 20;
    const { fetch, clock } = world;
    const client = { clientId: "mine", clientSecret: "a secret of mine" };
    const oauth = createOAuth({ redirectUri, store: store.withoutComparing(), fetch, clock, client });
    const done = await clock.until(Promise.allSettled([oauth.begin(resourceUrl), oauth.begin(url)]));
    assertEquals(done.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
    const reason = done.map((one) => one.status === "rejected" ? String(one.reason) : "").join("");
    assertStringIncludes(reason, 'Cannot use the client "mine" at');
  });
});
