/** What goes wrong in the world goes wrong as it is told; and servers of 2025-03-26 can be built of it. */
import { describe, test } from "node:test";
import { assert, assertEquals, assertGreater } from "@std/assert";
import { ask, call, exchange, getCode, introduce, link } from "./by_hand.ts";
import { answerJson, delay, endless, gate, huge, notJson, redirect, silence, stalled } from "./faults.ts";
import { createWorld, redirectUri, resourceUrl } from "./world.ts";

const metadata = "https://auth.example.com/.well-known/oauth-authorization-server";

describe("faults", () => {
  test("slow down, hold back, and fall silent by the world's clock alone", async () => {
    const world = await createWorld();
    world.fault(metadata, delay(world.clock, 10_000));
    const started = world.clock.now();
    const slow = await world.clock.until(world.fetch(metadata, {}));
    assertEquals([slow.status, world.clock.now() - started], [200, 10_000]);
    const { fault, release } = gate();
    world.fault(metadata, fault);
    const done: string[] = [];
    const held = world.fetch(metadata, {}).then(() => done.push("held"));
    await world.clock.settle();
    assertEquals(done, []);
    release();
    await held;
    assertEquals(done, ["held"]);
    world.fault(metadata, silence);
    const controller = new AbortController();
    const silent = world.fetch(metadata, { signal: controller.signal }).catch(() => done.push("given up"));
    await world.clock.advance(86_400_000);
    assertEquals(done, ["held"]);
    controller.abort();
    await silent;
    assertEquals(done, ["held", "given up"]);
  });

  test("send elsewhere, answer with pages, and with bodies that are too long or never end", async () => {
    const world = await createWorld();
    const get = () => world.fetch(metadata, { redirect: "manual" });
    world.fault(metadata, redirect("https://evil.example.com/", 307));
    const sent = await get();
    assertEquals([sent.status, sent.headers.get("location")], [307, "https://evil.example.com/"]);
    world.fault(metadata, notJson);
    assertEquals((await get()).headers.get("content-type"), "text/html");
    world.fault(metadata, answerJson([]));
    assertEquals(await (await get()).json(), []);
    world.fault(metadata, huge(100_000));
    assertGreater((await (await get()).text()).length, 100_000);
    const counted = { cancelled: 0 };
    world.fault(metadata, endless(counted));
    const reader = (await get()).body?.getReader();
    for (let chunk = 0; chunk < 100; chunk++) assertEquals((await reader?.read())?.value?.byteLength, 4_096);
    await reader?.cancel();
    assertEquals(counted.cancelled, 1);
    world.fault(metadata, stalled);
    const begun = (await get()).body?.getReader();
    assertEquals((await begun?.read())?.value?.byteLength, 1);
    const next = await Promise.race([begun?.read(), world.clock.settle().then(() => "nothing")]);
    assertEquals(next, "nothing");
    assertEquals((await (await get()).json()).issuer, "https://auth.example.com");
  });
});

describe("where metadata stands", () => {
  test("is for the test to choose, with what it says", async () => {
    const world = await createWorld({ issuer: "https://auth.example.com/tenant" });
    const { places } = world.server.knobs;
    const urls = {
      oauth: "https://auth.example.com/.well-known/oauth-authorization-server/tenant",
      openid: "https://auth.example.com/.well-known/openid-configuration/tenant",
      openidAppended: "https://auth.example.com/tenant/.well-known/openid-configuration",
      root: "https://auth.example.com/.well-known/oauth-authorization-server",
    };
    const found = async () => {
      const replies = await Promise.all(Object.values(urls).map((url) => world.fetch(url, {})));
      return Object.keys(urls).filter((_name, index) => replies[index]?.ok).join();
    };
    for (const place of ["oauth", "openid", "openidAppended", "root"] as const) {
      Object.assign(places, { oauth: false, openid: false, openidAppended: false, root: false, [place]: true });
      assertEquals(await found(), place);
    }
    world.server.knobs.metadata = { issuer: "https://evil.example.com", token_endpoint: undefined };
    const told = await (await world.fetch(urls.root, {})).json();
    assertEquals([told.issuer, told.token_endpoint], ["https://evil.example.com", undefined]);
    assertEquals(told.authorization_endpoint, "https://auth.example.com/tenant/authorize");
  });

  test("may be nowhere, as at a server of 2025-03-26, which is its own authorization server", async () => {
    const world = await createWorld({
      issuer: "https://mcp.example.com",
      eras: ["legacy"],
      resource: { places: { header: false, path: false, root: false }, takesUnbound: true },
      server: {
        places: { oauth: false, openid: false, openidAppended: false, root: false },
        iss: "absent",
        needsResource: false,
      },
    });
    const refused = await call(world, {});
    assertEquals([refused.status, refused.headers.get("www-authenticate")], [401, "Bearer"]);
    assertEquals((await world.fetch("https://mcp.example.com/.well-known/oauth-authorization-server", {})).status, 404);
    introduce(world);
    const back = new URL(await world.person.follow(await link(world, { resource: undefined })));
    assertEquals([back.origin + back.pathname, back.searchParams.get("iss")], [redirectUri, null]);
    const code = await getCode(world, { resource: undefined });
    const { body } = await ask(world, { ...exchange(code), resource: undefined });
    const bearer = { authorization: `Bearer ${String(body.access_token)}` };
    assert((await call(world, bearer)).status !== 401);
    assertEquals(world.resource.admitted, 1);
    world.resource.knobs.takesUnbound = false;
    assertEquals((await call(world, bearer)).status, 401);
    assertEquals(world.log.count(resourceUrl), 3);
  });
});
