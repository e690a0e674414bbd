import { assert, assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "node:test";
import { createMemoryStore } from "../../../src/auth/stores/memory.ts";
import { createOAuth } from "../../../src/auth/mod.ts";
import { createSessions } from "../../../src/runner/mod.ts";
import { createWorld as createWeb, resourceUrl } from "../../auth/world/world.ts";
import { createWorld, problemOf } from "../support/world.ts";

const principals = {
  ada: { principal: "ada", tenant: "acme" },
  eve: { principal: "eve", tenant: "other" },
};

describe("servers that want a sign-in", () => {
  async function createSigned() {
    const web = await createWeb();
    const store = createMemoryStore();
    const oauth = (tenant: string, subject: string) =>
      createOAuth({
        tenant,
        subject,
        store,
        fetch: web.fetch,
        clock: web.clock,
        redirectUri: "http://localhost/oauth/callback",
        clientMetadata: { client_name: "runner" },
      });
    const kept = new Map<string, ReturnType<typeof oauth>>();
    const sessions = createSessions({ clock: web.clock });
    const world = await createWorld({
      principals,
      clock: web.clock,
      egress: { fetch: web.fetch },
      oauth(tenant, server) {
        const own = kept.get(`${tenant}/${server}`) ?? oauth(tenant, server);
        kept.set(`${tenant}/${server}`, own);
        return own;
      },
      access: { sessions },
    });
    return { web, world, sessions };
  }

  it("tell where, and are connected when the person has come back", async () => {
    const { web, world } = await createSigned();
    await using _ = world;
    const response = await world.ask("/api/servers", { body: { name: "web", url: resourceUrl } });
    const { state, authorizationUrl } = await response.clone().json();
    assertEquals([response.status, state], [201, "authorizing"], await response.clone().text().catch(String));
    assert(!(await (await world.ask("/api/servers")).text()).includes("authorizationUrl"));
    const back = new URL(await web.person.follow(authorizationUrl));
    assertEquals(back.pathname, "/oauth/callback");
    const done = await world.ask(back.pathname + back.search, { as: undefined });
    assertEquals([done.status, await done.text()], [200, 'You are signed in to "web". You can close this page.\n']);
    const { servers } = await (await world.ask("/api/servers")).json();
    assertEquals(servers[1].state, "connected");
    const again = await world.ask(back.pathname + back.search, { as: undefined });
    assertEquals([again.status, (await problemOf(again)).code], [400, "sign_in_unknown"]);
    // The caller's own key goes nowhere.
    for (const { headers } of web.log.all) assert(!(headers.get("authorization") ?? "").includes("causeway_"));
  });

  it("say that a sign-in failed, and withdraw the tokens with the server", async () => {
    const { web, world } = await createSigned();
    await using _ = world;
    await world.ask("/api/servers", { body: { name: "web", url: resourceUrl } });
    const begin = async () => {
      const { authorizationUrl } = await (await world.ask("/api/servers/web/connect", { method: "POST" })).json();
      return new URL(await web.person.follow(authorizationUrl));
    };
    const { pathname, search } = await begin();
    const denied = search.replace(/code=[^&]*/, "error=access_denied");
    const failed = await problemOf(await world.ask(pathname + denied, { as: undefined }));
    assertEquals([failed.status, failed.code], [400, "sign_in_failed"]);
    const back = await begin();
    assertEquals((await world.ask(back.pathname + back.search, { as: undefined })).status, 200);
    const isRevoked = () => web.log.all.some(({ url }) => url.pathname.endsWith("/revoke"));
    const statuses = [isRevoked(), (await world.ask("/api/servers/web", { method: "DELETE" })).status, isRevoked()];
    assertEquals(statuses, [false, 204, true]);
  });

  it("that fail say why in words to a browser, and as a problem to a program", async () => {
    const { web, world } = await createSigned();
    await using _ = world;
    const response = await world.ask("/api/servers", { body: { name: "web", url: resourceUrl } });
    const { pathname, search } = new URL(await web.person.follow((await response.json()).authorizationUrl));
    const html = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    const visit = async (path: string, accept: string) => {
      const reply = await world.ask(path, { as: undefined, headers: { accept } });
      return [reply.status, reply.headers.get("content-type"), await reply.text()];
    };
    const words = "text/plain; charset=utf-8";
    const denied = search.replace(/code=[^&]*/, "error=access_denied&error_description=%3Cb%3Eno%3C/b%3E");
    const [status, type, text] = await visit(pathname + denied, html);
    assertEquals([status, type], [400, words]);
    assert(/access_denied/.test(`${text}`) && !/^\{/.test(`${text}`), `${text}`);
    const gone = "Nobody waits for this sign-in: it is finished, too old, or of somebody else";
    assertEquals(await visit(`${pathname}?state=unknown&code=c`, html), [400, words, `${gone}\n`]);
    const [, program, body] = await visit(`${pathname}?state=unknown&code=c`, "*/*");
    assertEquals([program, JSON.parse(`${body}`).code], ["application/problem+json", "sign_in_unknown"]);
    // What a browser asks for elsewhere is no page.
    assertEquals((await visit("/api/servers", html))[1], "application/problem+json");
  });

  it("keep tenants apart at the same server", async () => {
    const { web, world } = await createSigned();
    await using _ = world;
    for (const as of ["ada", "eve"]) await world.ask("/api/servers", { as, body: { name: "web", url: resourceUrl } });
    const { authorizationUrl } = await (await world.ask("/api/servers/web/connect", { method: "POST" })).json();
    const back = new URL(await web.person.follow(authorizationUrl));
    assertEquals((await world.ask(back.pathname + back.search, { as: undefined })).status, 200);
    const state = async (as: string) => (await (await world.ask("/api/servers", { as })).json()).servers[1].state;
    assertEquals([await state("ada"), await state("eve")], ["connected", "authorizing"]);
  });

  it("are finished in the browser that has begun", async () => {
    const { web, world, sessions } = await createSigned();
    await using _ = world;
    const page = { origin: "http://localhost", "sec-fetch-site": "same-origin" };
    const token = await sessions.invite({ id: "ada", tenant: "acme" });
    const begun = await world.ask("/api/session", { as: undefined, body: { token }, headers: page });
    const cookie = begun.headers.get("set-cookie")?.split(";")[0] ?? "";
    const body = { name: "web", url: resourceUrl };
    const response = await world.ask("/api/servers", { as: undefined, body, headers: { cookie, ...page } });
    const set = response.headers.get("set-cookie") ?? "";
    assertMatch(
      set,
      /^causeway-signin-[0-9a-f]{16}=[0-9a-f]{32}; Path=\/oauth\/callback; Max-Age=600; HttpOnly; SameSite=Lax$/,
    );
    const { authorizationUrl } = await response.json();
    const back = new URL(await web.person.follow(authorizationUrl));
    const elsewhere = await world.ask(back.pathname + back.search, { as: undefined });
    assertEquals([elsewhere.status, (await problemOf(elsewhere)).code], [403, "forbidden"]);
    const again = await world.ask("/api/servers/web/connect", {
      as: undefined,
      method: "POST",
      headers: { cookie, ...page },
    });
    const held = again.headers.get("set-cookie")?.split(";")[0] ?? "";
    const next = new URL(await web.person.follow((await again.json()).authorizationUrl));
    const finish = (cookie: string) => world.ask(next.pathname + next.search, { as: undefined, headers: { cookie } });
    // Who comes from another browser takes nothing away from the one that may.
    for (const cookie of ["", set.split(";")[0] ?? ""]) {
      const refused = await problemOf(await finish(cookie));
      assertEquals([refused.status, refused.code], [403, "forbidden"]);
    }
    assertEquals((await finish(held)).status, 200);
    assertEquals((await problemOf(await finish(held))).code, "sign_in_unknown");
  });

  it("are finished in whichever order, by the browser that has begun several", async () => {
    const { web, world, sessions } = await createSigned();
    await using _ = world;
    const session = await sessions.begin(await sessions.invite({ id: "ada", tenant: "acme" }));
    const jar = new Map([["causeway-session", session?.id ?? ""]]);
    const ask = async (path: string, body?: object) => {
      const cookie = Array.from(jar, (pair) => pair.join("=")).join("; ");
      const headers = { cookie, origin: "http://localhost", "sec-fetch-site": "same-origin" };
      const reply = await world.ask(path, { as: undefined, headers, ...(body && { body }) });
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(reply.headers.get("set-cookie") ?? "") ?? [];
      if (name !== undefined) jar.set(name, value ?? "");
      return reply;
    };
    const addresses: string[] = [];
    for (const name of ["one", "two"]) {
      const { authorizationUrl } = await (await ask("/api/servers", { name, url: resourceUrl })).json();
      addresses.push(authorizationUrl);
    }
    for (const address of addresses) {
      const { pathname, search } = new URL(await web.person.follow(address));
      assertEquals((await ask(pathname + search)).status, 200);
    }
  });
});
