/** Servers that tenants of the deployed Worker add, and sign-ins to them: kept in the tenant's object, sealed. */
import { assert, assertEquals } from "@std/assert";
import { describe, test } from "node:test";
import { createWorld, resourceUrl } from "../../auth/world/world.ts";
import { skip, startWorld } from "./world.ts";
import type { WorkerWorld } from "./world.ts";

interface Server {
  readonly name: string;
  readonly state: string;
  readonly added: boolean;
  readonly authorizationUrl?: string;
}

async function serversAt(world: WorkerWorld, as = "ada"): Promise<Server[]> {
  return (await world.json<{ servers: Server[] }>("/api/servers", { as })).servers;
}

describe("servers that a tenant adds", { concurrency: false }, () => {
  test("are kept over evictions, with their headers sealed, and go", { skip, timeout: 30_000 }, async () => {
    await using world = await startWorld();
    const body = { name: "extra", url: "https://extra.example/mcp", headers: { "x-key": "canary-of-a-header" } };
    assertEquals((await world.json<Server>("/api/servers", { body }, 201)).state, "connected");
    await world.evict("acme");
    assertEquals((await serversAt(world)).map(({ name, added }) => [name, added]), [["data", false], ["extra", true]]);
    await world.json("/api/tools/extra__fetch_data", { body: { city: "Rome" } });
    assertEquals(world.ledger.map(({ server }) => server), ["extra.example"]);
    assertEquals((await serversAt(world, "eve")).map(({ name }) => name), ["data"]);
    const { text } = await world.rows("acme");
    assert(text.length > 100 && !text.includes("canary-of-a-header") && !text.includes("extra.example"), text);
    const gone = await world.ask("/api/servers/extra", { method: "DELETE" });
    assertEquals(gone.status, 204);
    await world.evict("acme");
    assertEquals((await serversAt(world)).map(({ name }) => name), ["data"]);
  });

  test("are public ones alone", { skip, timeout: 30_000 }, async () => {
    await using world = await startWorld();
    for (
      const url of ["http://extra.example/mcp", "https://127.0.0.1/mcp", "https://169.254.169.254/x", "https://[::1]/"]
    ) {
      const refused = await world.ask("/api/servers", { body: { name: "extra", url } });
      assertEquals(refused.status, 400, `${url}: ${await refused.text()}`);
    }
    assertEquals((await serversAt(world)).map(({ name }) => name), ["data"]);
  });
});

describe("signing in to a server", { concurrency: false }, () => {
  test("brings the person back to the tenant's object, and the tokens are sealed there", {
    skip,
    timeout: 30_000,
  }, async () => {
    const web = await createWorld();
    await using world = await startWorld({
      bindings: { PUBLIC_URL: "https://runner.example.com" },
      web: { hosts: ["mcp.example.com", "auth.example.com"], fetch: web.fetch },
    });
    const body = { name: "web", url: resourceUrl };
    const { state, authorizationUrl = "" } = await world.json<Server>("/api/servers", { body }, 201);
    assertEquals(state, "authorizing");
    // Neither the authorization server nor the address tells whose sign-in it is.
    assert(!decodeURIComponent(authorizationUrl).includes("acme"), authorizationUrl);
    const back = new URL(await web.person.follow(authorizationUrl));
    assertEquals([back.origin, back.pathname], ["https://runner.example.com", "/oauth/callback"]);
    await world.evict("acme");
    const broken = await fetch(`${world.url}/oauth/callback?to=${"0".repeat(64)}.${"0".repeat(64)}&code=a&state=b`);
    assertEquals([broken.status, (await broken.json()).code], [400, "sign_in_unknown"]);
    const done = await fetch(`${world.url}${back.pathname}${back.search}`);
    assertEquals([done.status, await done.text()], [200, 'You are signed in to "web". You can close this page.\n']);
    assertEquals((await serversAt(world)).find(({ name }) => name === "web")?.state, "connected");
    await world.evict("acme");
    const { tools } = await world.json<{ tools: { name: string }[] }>("/api/tools?server=web");
    const echo = tools.find(({ name }) => name.startsWith("web__"));
    assert(echo, JSON.stringify(tools));
    const called = await world.ask(`/api/tools/${echo.name}`, { body: { text: "hi" } });
    assertEquals(called.status, 200, await called.text());
    const { text } = await world.rows("acme");
    for (const { headers } of web.log.all) {
      const [, token] = /^Bearer (.+)$/.exec(headers.get("authorization") ?? "") ?? [];
      if (token) assert(!text.includes(token) && !token.startsWith("causeway_"));
    }
    const again = await fetch(`${world.url}${back.pathname}${back.search}`);
    assertEquals(again.status, 400, await again.text());
  });
});
