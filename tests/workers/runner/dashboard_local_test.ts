/** The dashboard in the deployed Worker: its page, who may see what it asks for, and that no isolate reads it before it is asked for. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { after, before, describe, test } from "node:test";
import { script, style } from "../../../src/runner/dashboard/page_text.ts";
import { buildRunnerWorker, readAtStart } from "../../../tools/build/runner_worker.ts";
import { skip, startWorld, usualConfig } from "./world.ts";
import type { WorkerWorld } from "./world.ts";

let world: WorkerWorld;
before(async () => {
  if (skip) return;
  world = await startWorld({
    principals: {
      ada: { principal: "ada", tenant: "acme" },
      bob: { principal: "bob", tenant: "acme" },
      nil: { principal: "nil", tenant: "void" },
    },
    config: {
      ...usualConfig,
      rules: [{ principals: ["ada"], effect: "allow" }, { principals: ["bob"], actions: ["call"], effect: "allow" }],
    },
  });
});
after(() => world?.[Symbol.asyncDispose]());

/** What a browser sends with a page's own request. */
const ownPage = () => ({ authorization: "", origin: world.url, "sec-fetch-site": "same-origin" });

/** Signs in as the page does, with a key; gives the cookie. */
async function signIn(name: string): Promise<string> {
  const reply = await world.ask("/api/session", { body: { token: world.key(name) }, headers: ownPage() });
  assertEquals(reply.status, 204, await reply.text());
  return (reply.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
}

describe("the dashboard in the Worker", { concurrency: false }, () => {
  test("is one page for everybody, with its script and style, and wakes no object", { skip }, async () => {
    const headers = { authorization: "" };
    const page = await world.ask("/", { headers });
    assertEquals([page.status, page.headers.get("content-type")], [200, "text/html; charset=utf-8"]);
    assertStringIncludes(page.headers.get("content-security-policy") ?? "", "default-src 'none'; script-src 'self'");
    const paths = [...(await page.text()).matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path = ""]) => path);
    const texts = await Promise.all(paths.map(async (path) => await (await world.ask(path, { headers })).text()));
    assertEquals(texts, [style, script]);
    assertEquals((await world.rows("acme")).keys, []);
  });

  test("is in a module that no isolate reads when it starts", { skip }, async () => {
    const { modules } = await buildRunnerWorker();
    const holds = (text: string, all: typeof modules) => all.some((module) => module.text.includes(text));
    const mark = "prefers-reduced-motion";
    assert(style.includes(mark), "the mark is no part of the style any more");
    assertEquals([holds(mark, modules), holds(mark, readAtStart(modules))], [true, false]);
  });

  test("lets a person sign in with a key, and shows what the policy lets them see", { skip }, async () => {
    const [ada, bob] = [await signIn("ada"), await signIn("bob")];
    const read = (path: string, cookie: string) =>
      world.ask(path, { headers: { authorization: "", "sec-fetch-site": "same-origin", cookie } });
    const who = await read("/api/session", ada);
    assertEquals(await who.json(), { principal: "ada", tenant: "acme", way: "session" });
    const server = await read("/api/servers/data", ada);
    const { name, state, capabilities } = await server.json();
    assertEquals([server.status, name, typeof state, typeof capabilities], [200, "data", "string", "object"]);
    assertEquals((await read("/api/servers/nothing", ada)).status, 404);
    assertEquals((await read("/api/servers/data", bob)).status, 404);
    assertEquals((await read("/api/servers/data/events", bob)).status, 404);
    assertEquals((await read("/api/servers/data", await signIn("nil"))).status, 404);
    assertEquals((await world.rows("void")).keys, []);
    for (const path of ["/api/servers/data", "/api/servers/data/events"]) {
      const nobody = await world.ask(path, { headers: { authorization: "" } });
      const { code } = await nobody.json();
      assertEquals([nobody.status, code], [401, "not_signed_in"]);
    }
  });

  test("signs nobody in with anything that could be used again", { skip }, async () => {
    const [, id = ""] = (await signIn("ada")).split("=");
    assert(id.length > 20 && id.length <= 256, id);
    for (const token of [id, "0".repeat(64)]) {
      const reply = await world.ask("/api/session", { body: { token }, headers: ownPage() });
      const { code } = await reply.json();
      assertEquals([reply.status, code, reply.headers.get("set-cookie")], [401, "not_signed_in", null]);
    }
  });

  test("is told what happens at a server", { skip }, async () => {
    const cookie = await signIn("ada");
    // A cold object knows its servers, and is connected to none.
    await world.json("/api/tools");
    await world.evict("acme");
    const told = await world.ask("/api/servers/data/events", {
      headers: { authorization: "", "sec-fetch-site": "same-origin", cookie },
    });
    assertEquals([told.status, told.headers.get("content-type")], [200, "text/event-stream"]);
    await world.json("/api/servers/data/connect", { body: {} });
    let text = "";
    const reader = told.body!.pipeThrough(new TextDecoderStream()).getReader();
    while (!text.includes("event: state")) {
      const { done, value } = await reader.read();
      assert(!done, text);
      text += value;
    }
    await reader.cancel();
  });
});
