/** The Worker of `examples/sign_in/worker.ts` in real workerd: two isolates over one object, in a world of servers in this process. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { Miniflare, Request as Asked, WorkerOptions } from "miniflare";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { createHandler, ToolServer } from "../../src/server/mod.ts";
import { packagesInstalled, root } from "../../tools/programs.ts";
import { createWorld, type World } from "../auth/world/world.ts";

const skip = !packagesInstalled()
  ? "miniflare and esbuild are not installed"
  : "Bun" in globalThis
  ? false
  : "it is the same workerd from each runtime: once is enough, on Bun";
const app = "https://app.example.com";
const folder = mkdtempSync(join(tmpdir(), "causeway-sign-in-"));
let flare: Miniflare;
let world: World;

/** A server whose words want to be more than words. */
function createTools(): (request: Request) => Promise<Response> {
  const server = new ToolServer({ name: "loud", version: "1.0.0" });
  const input = { type: "object", properties: { text: { type: "string" } } };
  server.tool("loud", { description: "<script>alert(1)</script>", input }, ({ text }) => `<b>${String(text)}</b>`);
  return createHandler(server, { allowedHosts: "*" });
}

before(async () => {
  if (skip) return;
  const { build } = await import("esbuild");
  const { Miniflare, Response: Reply } = await import("miniflare");
  const entryPoints = [join(root, "examples", "sign_in", "worker.ts")];
  const built = await build({ entryPoints, bundle: true, format: "esm", write: false });
  const contents = built.outputFiles[0]?.text ?? "";
  const server = { registration: false, clientDocuments: true } as const;
  world = await createWorld({ server, handler: createTools() });
  const outboundService = async (asked: Asked) => {
    const { url, method } = asked;
    const body = await asked.text();
    const response = await world.fetch(url, { method, headers: [...asked.headers], ...(body && { body }) });
    const { status } = response;
    // A connection that is kept is ended after some seconds: where a machine stands still, it is used just then.
    return new Reply(await response.text(), { status, headers: [...response.headers, ["connection", "close"]] });
  };
  const worker = (name: string, scriptName?: string): WorkerOptions => ({
    name,
    routes: [`${name}.test/*`],
    modules: [{ type: "ESModule", path: "worker.js", contents }],
    compatibilityDate: "2026-05-03",
    compatibilityFlags: ["enable_request_signal"],
    bindings: { MCP_URL: world.resource.url, APP_URL: app, STORE_KEY: btoa("k".repeat(32)) },
    durableObjects: { STORES: { className: "StoreObject", useSQLite: true, ...(scriptName && { scriptName }) } },
    outboundService,
  });
  flare = new Miniflare({ cf: false, durableObjectsPersist: folder, workers: [worker("one"), worker("two", "one")] });
  const { body } = await ask("one", "/client.json");
  world.documents.set(`${app}/client.json`, JSON.parse(body));
});
after(async () => {
  await flare?.dispose();
  rmSync(folder, { recursive: true, force: true });
});

interface Answer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: string;
}

/** Asks one of the isolates, as a browser would. */
async function ask(isolate: "one" | "two", path: string, cookie = "", form?: Record<string, string>): Promise<Answer> {
  const init = form && { method: "POST", body: new URLSearchParams(form).toString() };
  const type = form && { "content-type": "application/x-www-form-urlencoded" };
  const headers = { connection: "close", origin: app, ...type, ...(cookie && { cookie }) };
  const response = await flare.dispatchFetch(`http://${isolate}.test${path}`, { ...init, headers, redirect: "manual" });
  return { status: response.status, headers: response.headers, body: await response.text() };
}

/** Begins to sign in. */
async function begin(isolate: "one" | "two"): Promise<{ cookie: string; location: string }> {
  const { status, headers, body } = await ask(isolate, "/");
  assertEquals(status, 302, body);
  const cookie = headers.get("set-cookie") ?? "";
  assertMatch(cookie, /^__Host-session=[\w-]{36}; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
  return { cookie: cookie.split(";")[0] ?? "", location: headers.get("location") ?? "" };
}

/** Signs in: from one isolate to the other. */
async function signIn(): Promise<string> {
  const { cookie, location } = await begin("one");
  const { pathname, search } = new URL(await world.person.follow(location));
  const { status, headers, body } = await ask("two", pathname + search, cookie);
  assertEquals([status, headers.get("location")], [302, "/"], body);
  return cookie;
}

describe("a Worker that signs people in", { concurrency: false, timeout: 60_000 }, () => {
  test("begins in one isolate and ends in another, as the client of its document", { skip }, async () => {
    const cookie = await signIn();
    for (const isolate of ["one", "two"] as const) {
      const { status, body, headers } = await ask(isolate, "/", cookie);
      assertEquals(status, 200, body);
      assertStringIncludes(body, "<b>loud</b> &lt;script&gt;");
      assertEquals([body.includes("<script"), world.secrets.some((secret) => body.includes(secret))], [false, false]);
      assertMatch(headers.get("content-security-policy") ?? "", /^default-src 'none'; form-action 'self'/);
    }
    const [first] = world.log.tokens("authorization_code");
    assertEquals([first?.form.get("client_id"), world.log.count("/register")], [`${app}/client.json`, 0]);
  });

  test("calls a tool, whose words stay words", { skip }, async () => {
    const cookie = await signIn();
    const { status, body } = await ask("two", "/call/loud", cookie, { arguments: '{"text":"<script>"}' });
    assertEquals(status, 200, body);
    assertStringIncludes(body, "&lt;b&gt;&lt;script&gt;&lt;/b&gt;");
    assertEquals((await ask("one", "/call/loud", cookie, { arguments: "[]" })).status, 400);
    const unknown = await ask("one", "/call/none", cookie, { arguments: "{}" });
    assertEquals(unknown.status, 502);
    assertStringIncludes(unknown.body, "It did not work: ");
  });

  test("renews a token once for ten requests in two isolates", { skip }, async () => {
    const cookie = await signIn();
    world.log.clear();
    await world.clock.advance(301_000);
    const asked = Array.from({ length: 10 }, (_, index) => ask(index % 2 ? "one" : "two", "/", cookie));
    for (const { status, body } of await Promise.all(asked)) assertEquals(status, 200, body);
    assertEquals(world.log.tokens("refresh_token").map(({ status }) => status), [200]);
    assert(world.log.all.some(({ status }) => status === 401), "nothing was refused");
  });

  test("finishes nobody else's sign-in, and no sign-in twice", { skip }, async () => {
    const [mine, theirs] = [await begin("one"), await begin("two")];
    const { pathname, search } = new URL(await world.person.follow(mine.location));
    const back = pathname + search;
    const stolen = await ask("one", back, theirs.cookie);
    assertEquals([stolen.status, (await ask("one", "/", theirs.cookie)).status], [502, 302]);
    assertEquals((await ask("one", back)).headers.get("location"), "/");
    assertEquals((await ask("two", back, mine.cookie)).status, 302);
    assertEquals((await ask("two", back, mine.cookie)).status, 502);
    assertEquals((await ask("one", "/", mine.cookie)).status, 200);
  });

  test("takes no session that it did not make", { skip }, async () => {
    for (const cookie of ["__Host-session=", "__Host-session=ada", "session=00000000-0000-0000-0000-000000000000"]) {
      const { status, headers } = await ask("one", "/", cookie);
      assertEquals(status, 302);
      assertMatch(headers.get("set-cookie") ?? "", /^__Host-session=[\w-]{36};/);
    }
  });

  test("takes no form of another site", { skip }, async () => {
    const cookie = await signIn();
    for (const path of ["/sign-out", "/call/loud"]) {
      const init = { method: "POST", body: "arguments={}", headers: { cookie, origin: "https://other.example" } };
      const response = await flare.dispatchFetch(`http://one.test${path}`, init);
      assertEquals([response.status, await response.text()], [403, "Forbidden"]);
    }
    assertEquals((await ask("one", "/", cookie)).status, 200);
  });

  test("signs out: the tokens are withdrawn", { skip }, async () => {
    const cookie = await signIn();
    world.log.clear();
    const { status, headers } = await ask("two", "/sign-out", cookie, {});
    assertEquals([status, world.log.of("/revoke").map(({ status }) => status)], [200, [200]]);
    assertMatch(headers.get("set-cookie") ?? "", /^__Host-session=; Max-Age=0;/);
    assertEquals((await ask("one", "/", cookie)).status, 302);
  });

  test("sends who needs more scope by a link, since a form may lead nowhere else", { skip }, async () => {
    const cookie = await signIn();
    world.resource.knobs.needs = ({ name }) => name === "loud" ? ["files:write"] : [];
    try {
      const { status, body } = await ask("one", "/call/loud", cookie, { arguments: "{}" });
      assertEquals(status, 403);
      const link = /<a href="([^"]+)">/.exec(body)?.[1]?.replaceAll("&amp;", "&") ?? "";
      const { pathname, search } = new URL(await world.person.follow(link));
      assertEquals((await ask("two", pathname + search, cookie)).headers.get("location"), "/");
      assertEquals((await ask("one", "/call/loud", cookie, { arguments: "{}" })).status, 200);
    } finally {
      world.resource.knobs.needs = () => [];
    }
  });

  test("keeps nothing that can be read without the key", { skip }, async () => {
    await signIn();
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const texts = files.map(({ name, parentPath }) => readFileSync(join(parentPath, name), "latin1"));
    assert(texts.some((text) => text.includes("oauth.tokens.")), "the objects keep nothing");
    const shown = world.secrets.filter((secret) => texts.some((text) => text.includes(secret)));
    assertEquals([shown.length, world.secrets.length > 10], [0, true]);
  });
});
