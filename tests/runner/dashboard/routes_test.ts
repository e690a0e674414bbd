import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "node:test";
import {
  createApiKey,
  createDashboard,
  createKeyList,
  createPolicy,
  createRunner,
  createSessions,
} from "../../../src/runner/mod.ts";
import type { Action, Policy } from "../../../src/runner/mod.ts";
import { McpServer } from "../../../src/server/mod.ts";
import { inMemory, openHub } from "../../hub/support.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { createWorld, problemOf } from "../support/world.ts";

const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

describe("the routes of the dashboard", () => {
  it("serve one page to everybody, under a strict policy, with its parts by their hashes", async () => {
    await using world = await createWorld({ routes: createDashboard() });
    const page = await world.ask("/", { as: undefined });
    assertEquals(page.status, 200);
    const text = await page.text();
    const paths = [...text.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path = ""]) => path);
    assertEquals(paths.length, 2);
    for (const [path, type] of [["/", "text/html"], [paths[0], "text/css"], [paths[1], "text/javascript"]] as const) {
      const reply = await world.ask(path ?? "", { as: undefined });
      const { headers } = reply;
      assertEquals([reply.status, headers.get("content-type")], [200, `${type}; charset=utf-8`]);
      assertEquals(headers.get("content-security-policy"), policy);
      assertEquals(headers.get("x-content-type-options"), "nosniff");
      assertEquals(headers.get("referrer-policy"), "no-referrer");
      assertEquals(headers.get("cross-origin-opener-policy"), "same-origin");
      assertEquals(headers.get("cross-origin-resource-policy"), "same-origin");
      assertEquals(headers.get("set-cookie"), null);
      assertMatch(headers.get("cache-control") ?? "", path === "/" ? /^no-cache$/ : /immutable$/);
      const body = await reply.text();
      assert(
        !/\son\w+=|<script>|<style|javascript:/i.test(path === "/" ? body : ""),
        "something runs in the page itself",
      );
      const tag = headers.get("etag") ?? "";
      const known = await world.ask(path ?? "", { as: undefined, headers: { "if-none-match": `"x", W/${tag}` } });
      assertEquals([known.status, await known.text(), known.headers.get("etag")], [304, "", tag]);
    }
    assertEquals((await world.ask("/dashboard/0000000000000000.js", { as: undefined })).status, 404);
    assertEquals((await world.ask("/", { as: undefined, method: "POST", body: {} })).status, 405);
    assertEquals((await world.ask("/", { as: undefined, headers: { host: "evil.example" } })).status, 403);
  });

  it("have a policy each, and no more of them are public than are named here", async () => {
    await using world = await createWorld({ routes: createDashboard(), access: { sessions: createSessions() } });
    const kinds = new Set(world.runner.routes.map(({ policy }) => policy.kind));
    assertEquals([...kinds].sort(), ["decided", "public", "signed-in"]);
    const open = world.runner.routes.filter(({ policy }) => policy.kind === "public").map(({ method, path }) =>
      `${method} ${path}`
    );
    assertEquals(open.map((line) => line.replace(/[0-9a-f]{16}/, "…")).sort(), [
      ...[
        "GET /",
        "GET /dashboard/….css",
        "GET /dashboard/….js",
        "GET /healthz",
        "GET /oauth/callback",
        "GET /openapi.json",
      ],
      "POST /api/session",
    ]);
    for (const { method, path, policy } of world.runner.routes) {
      if (policy.kind === "public") continue;
      const way = method === "ALL" ? "POST" : method;
      const reply = await world.ask(path.replace(/:\w+/g, "alpha__echo"), {
        as: undefined,
        method: way,
        ...(way === "POST" && { body: {} }),
      });
      assertEquals([reply.status, (await problemOf(reply)).code], [401, "not_signed_in"], `${method} ${path}`);
    }
    assertEquals(world.ledger, []);
  });

  it("tell what a server says, to who may see it", async () => {
    const principals = { ada: { principal: "ada", tenant: "acme" }, bob: { principal: "bob", tenant: "acme" } };
    await using world = await createWorld({
      routes: createDashboard(),
      principals,
      policy: [{ principals: ["ada"], effect: "allow" }],
    });
    const about = await (await world.ask("/api/servers/alpha")).json();
    assertEquals([about.name, about.state, about.tools], ["alpha", "connected", 2]);
    for (
      const [path, as] of [["/api/servers/beta", "ada"], ["/api/servers/alpha", "bob"], [
        "/api/servers/alpha/events",
        "bob",
      ]] as const
    ) {
      const reply = await world.ask(path, { as });
      assertEquals([reply.status, (await problemOf(reply)).code], [404, "not_found"], path);
    }
  });

  it("tell what happens at a server, and its log to who manages it", async () => {
    const server = new McpServer({ name: "talking", version: "1.0.0" });
    server.tool("talk", {}, (_, context) => {
      context.log("info", "it talks");
      return "done";
    });
    const memory = inMemory(server, { eras: ["legacy"] });
    await using hub = await openHub({ talking: memory.config });
    const keys = await Promise.all([createApiKey(), createApiKey()]);
    const names = ["ada", "bob"];
    await using runner = createRunner({
      hub,
      access: {
        keys: createKeyList(keys.map(({ hash }, at) => ({ hash, principal: names[at] ?? "", tenant: "acme" }))),
        policy: createPolicy([{ principals: ["ada"], effect: "allow" }, {
          principals: ["bob"],
          actions: ["see"],
          effect: "allow",
        }]),
      },
      routes: createDashboard(),
    });
    const open = async (key: string) => {
      const headers = { authorization: `Bearer ${key}` };
      const reply = await runner.fetch(new Request("http://localhost/api/servers/talking/events", { headers }));
      const reader = reply.body!.pipeThrough(new TextDecoderStream()).getReader();
      await reader.read();
      return reader;
    };
    const [ada, bob] = await Promise.all(keys.map(({ key }) => open(key)));
    await hub.callTool("talking__talk");
    assertStringIncludes((await ada?.read())?.value ?? "", 'event: log\ndata: {"level":"info","data":"it talks"}');
    memory.kill();
    assertStringIncludes((await ada?.read())?.value ?? "", 'event: state\ndata: {"from":"connected"');
    assertStringIncludes((await bob?.read())?.value ?? "", "event: state");
    await Promise.all([ada?.cancel(), bob?.cancel()]);
  });

  it("tell nothing of a server any more to who may not see it any more, and no log to who no longer manages it", async () => {
    const clock = new VirtualClock();
    let actions: readonly Action[] = ["see", "manage"];
    const policy: Policy = { open: () => (_server, _tool, action) => actions.includes(action) ? "allow" : "deny" };
    await using world = await createWorld({ clock, routes: createDashboard(), access: { policy } });
    const open = async () => await world.ask("/api/servers/alpha/events");
    for (const left of [["see"], []] as const) {
      const stream = await open();
      assertEquals(stream.status, 200);
      let isOver = false;
      void stream.text().then(() => isOver = true);
      await clock.advance(200_000);
      assertEquals(isOver, false);
      actions = left;
      await clock.advance(61_000);
      await clock.settle();
      assertEquals(isOver, true, `with ${left} left`);
    }
    assertEquals((await open()).status, 404);
  });

  it("read with a cookie for our own page alone, streams too", async () => {
    const sessions = createSessions();
    await using world = await createWorld({ routes: createDashboard(), access: { sessions }, allowedOrigins: "*" });
    const session = await sessions.begin(await sessions.invite({ id: "ada", tenant: "acme" }));
    const cookie = `causeway-session=${session?.id}`;
    const status = async (path: string, headers: Record<string, string>) => {
      const reply = await world.ask(path, { as: undefined, headers: { cookie, ...headers } });
      await reply.body?.cancel();
      return reply.status;
    };
    const { id } = await world.runs("acme").start({ agent: "helper", principal: "ada", input: "hello" });
    for (const path of ["/api/servers", `/api/runs/${id}/events`, "/api/servers/alpha/events", "/mcp"]) {
      // What MCP says to a GET without a session is its own.
      const own = path === "/mcp" ? 400 : 200;
      assertEquals(await status(path, { "sec-fetch-site": "same-origin" }), own, path);
      for (
        const headers of [
          { "sec-fetch-site": "same-site" },
          { "sec-fetch-site": "cross-site" },
          { origin: "http://localhost:8081" },
          { origin: "http://localhost:8081", "sec-fetch-site": "same-origin" },
          { origin: "https://evil.example", "sec-fetch-site": "cross-site" },
        ]
      ) assertEquals(await status(path, headers), 403, `${path} ${JSON.stringify(headers)}`);
    }
  });
});
