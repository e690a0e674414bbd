import { assert, assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "node:test";
import { createSchemaValidator } from "../../src/protocol/json_schema/mod.ts";
import { createDashboard } from "../../src/runner/mod.ts";
import type { Route } from "../../src/runner/mod.ts";
import { actions } from "../../src/runner/access/types.ts";
import { until } from "../support/clients.ts";
import { VirtualClock } from "../support/virtual_clock.ts";
import { createWorld, problemOf } from "./support/world.ts";

const own: Route = {
  method: "GET",
  path: "/api/own",
  summary: "A route that forgets to ask the policy.",
  policy: { kind: "decided", actions: ["see"], about: "nothing" },
  replies: { 200: { description: "It should not" } },
  answer: () => Response.json({ secret: true }),
};

describe("the table of routes", () => {
  it("is what Hono serves, and each row has its policy", async () => {
    await using world = await createWorld();
    const { routes, app } = world.runner;
    assertEquals(
      app.routes.map(({ method, path }) => [method, path]),
      routes.map(({ method, path }) => [method, path]),
    );
    for (const { method, path, policy, summary, replies } of routes) {
      const row = `${method} ${path}`;
      assert(policy, `${row} has no policy`);
      if (policy.kind === "decided") {
        assert(policy.actions.length > 0 && policy.actions.every((action) => actions.includes(action)), row);
        assert(policy.about, row);
      } else assert(policy.why.length > 10, `${row} does not say why`);
      assert(summary.endsWith("."), row);
      assert(Object.keys(replies).length > 0, row);
    }
    const keys = routes.map(({ method, path }) => `${method} ${path}`);
    assertEquals(new Set(keys).size, keys.length);
    assertEquals(routes.filter(({ policy }) => policy.kind === "public").map(({ path }) => path).sort(), [
      ...["/api/session", "/healthz", "/oauth/callback", "/openapi.json"],
    ]);
  });

  it("lets nobody in who is not known, on any route that is not public", async () => {
    await using world = await createWorld();
    for (const { method, path, policy } of world.runner.routes) {
      if (policy.kind === "public") continue;
      const filled = path.replace(/:\w+/g, "x");
      for (
        const headers of [{}, { authorization: "Bearer causeway_x" }, { authorization: `Bearer ${world.key("none")}` }]
      ) {
        const given = method === "ALL" ? "POST" : method;
        const body = given === "POST" ? { body: {} } : {};
        const response = await world.ask(filled, { as: undefined, method: given, headers, ...body });
        const problem = await problemOf(response);
        assertEquals([problem.status, problem.code], [401, "not_signed_in"], `${given} ${filled}`);
        assertEquals(response.headers.get("www-authenticate"), "Bearer");
      }
    }
    assertEquals([world.ledger, world.audit], [[], []]);
  });

  it("shows nothing of a decided route that did not ask the policy", async () => {
    await using world = await createWorld({ routes: [own], logger: () => {} });
    const response = await world.ask("/api/own");
    assertEquals([response.status, (await problemOf(response)).code], [500, "internal_error"]);
  });

  it("refuses other methods with those that there are, and other paths", async () => {
    await using world = await createWorld();
    for (
      const [method, path, allow] of [
        ["PUT", "/api/runs", "POST, GET"],
        ["HEAD", "/api/runs/x/events", "GET"],
        ["HEAD", "/mcp", "POST, GET, DELETE"],
        ["GET", "/api/tools/x", "POST"],
        ["DELETE", "/healthz", "GET"],
        ["PATCH", "/v1/models", "GET"],
      ] as const
    ) {
      const response = await world.ask(path, { method });
      assertEquals([response.status, response.headers.get("allow")], [405, allow], `${method} ${path}`);
      if (method !== "HEAD") await problemOf(response);
    }
    for (const path of ["/", "/api", "/api/", "/api/runs/", "/api//runs", "/api/runs/x/y", "/API/runs", "/__proto__"]) {
      const response = await world.ask(path);
      assertEquals([response.status, (await problemOf(response)).code], [404, "not_found"], path);
    }
  });

  it("answers HEAD as GET where that is for anybody, and changes nothing: monitors ask so", async () => {
    await using world = await createWorld({ routes: createDashboard() });
    for (const path of ["/healthz", "/openapi.json", "/"]) {
      const whole = await world.ask(path, { as: undefined });
      const head = await world.ask(path, { as: undefined, method: "HEAD" });
      assertEquals([head.status, await head.text()], [200, ""], path);
      // Without it hosts say that GET would give nothing.
      assertEquals(head.headers.get("content-length"), `${(await whole.clone().arrayBuffer()).byteLength}`, path);
      assertEquals(head.headers.get("content-type"), whole.headers.get("content-type"));
      assertEquals(head.headers.get("content-security-policy"), whole.headers.get("content-security-policy"));
      await whole.body?.cancel();
    }
    const foreign = { method: "HEAD", headers: { origin: "https://evil.example" } };
    assertEquals((await world.ask("/healthz", foreign)).status, 403);
    for (const path of ["/oauth/callback?state=x", "/api/tools", "/mcp", "/api/session"]) {
      assertEquals((await world.ask(path, { method: "HEAD" })).ok, false, path);
    }
  });

  it("answers HEAD of what has no end, and reads nothing whose length is known", async () => {
    const bytes = new Uint8Array(65_536);
    const cancelled: string[] = [];
    const routeOf = (path: string, pull: UnderlyingDefaultSource<Uint8Array>["pull"], headers = {}): Route => ({
      method: "GET",
      path,
      summary: "One of the operator's own.",
      policy: { kind: "public", why: "it is a test" },
      replies: { 200: { description: "Lines", type: "application/x-ndjson" } },
      answer: () => {
        const body = new ReadableStream<Uint8Array>(
          { ...(pull && { pull }), cancel: () => void cancelled.push(path) },
          { highWaterMark: 0 },
        );
        return new Response(body, { headers: { "content-type": "application/x-ndjson", ...headers } });
      },
    });
    const clock = new VirtualClock();
    let waits = false;
    const silent = () => {
      waits = true;
      return new Promise<void>(() => {});
    };
    const broken = () => Promise.reject(new Error("broken"));
    const routes = [
      routeOf("/silent", silent),
      routeOf("/endless", (controller) => controller.enqueue(bytes)),
      routeOf("/broken", broken),
      routeOf("/known", broken, { "content-length": "7" }),
    ];
    await using world = await createWorld({ clock, routes });
    const lengthOf = async (path: string) => {
      const head = await world.ask(path, { as: undefined, method: "HEAD" });
      return [head.status, await head.text(), head.headers.get("content-length")];
    };
    const waiting = lengthOf("/silent");
    await until(() => waits);
    await clock.advance(1_000);
    assertEquals(await waiting, [200, "", null]);
    assertEquals(await lengthOf("/endless"), [200, "", null]);
    assertEquals(await lengthOf("/broken"), [200, "", null]);
    assertEquals(await lengthOf("/known"), [200, "", "7"]);
    assertEquals(cancelled, ["/silent", "/endless", "/known"]);
  });

  it("is described as OpenAPI, with the schemas that are checked", async () => {
    await using world = await createWorld();
    const response = await world.ask("/openapi.json", { as: undefined });
    const document = await response.json();
    assertEquals(document.openapi, "3.1.0");
    const described = Object.entries<Record<string, object>>(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`)
    );
    const served = world.runner.routes.flatMap(({ method, path }) =>
      (method === "ALL" ? ["GET", "POST", "DELETE"] : [method]).map((one) =>
        `${one} ${path.replace(/:(\w+)/g, "{$1}")}`
      )
    );
    assertEquals(described.sort(), served.sort());
    const start = document.paths["/api/runs"].post.requestBody.content["application/json"].schema;
    const check = createSchemaValidator()(start);
    assertEquals([check({ agent: "a", input: "b" }).valid, check({ agent: "a" }).valid], [true, false]);
    const ids = Object.values<Record<string, { operationId: string }>>(document.paths)
      .flatMap((item) => Object.values(item).map(({ operationId }) => operationId));
    assertEquals(new Set(ids).size, ids.length);
  });

  it("describes what may be any object as one, and each member that has to be there: clients are made of it", async () => {
    await using world = await createWorld();
    const { paths } = await (await world.ask("/openapi.json")).json();
    const [tool, chat] = [paths["/api/tools/{name}"].post, paths["/v1/chat/completions"].post];
    const given = ({ requestBody }: typeof tool) => requestBody.content["application/json"].schema;
    // Generators take an object without a word about its members for an empty one.
    const item = given(chat).properties.messages.items;
    const open = [given(tool), given(chat), item].map(({ additionalProperties }) => additionalProperties);
    assertEquals(open, [true, true, true]);
    // Each member that has to be there is described.
    const bare: string[] = [];
    JSON.stringify(paths, (_, value) => {
      const { required, properties = {} } = value ?? {};
      if (Array.isArray(required)) bare.push(...required.filter((name: string) => !(name in properties)));
      return value;
    });
    assertEquals(bare, []);
  });

  it("answers what is there with what was described", async () => {
    await using world = await createWorld({ routes: createDashboard() });
    const { paths } = await (await world.ask("/openapi.json")).json();
    const run = await (await world.ask("/api/runs", { body: { agent: "helper", input: "hello" } })).json();
    for (
      const [path, described, status] of [
        [`/api/runs/${run.id}`, "/api/runs/{id}", 200],
        ["/api/runs", "/api/runs", 200],
        ["/api/tools", "/api/tools", 200],
        ["/api/servers", "/api/servers", 200],
        ["/api/servers/alpha", "/api/servers/{name}", 200],
        ["/api/agents", "/api/agents", 200],
        ["/v1/models", "/v1/models", 200],
        ["/v1/models/helper", "/v1/models/{id}", 200],
        ["/api/resources", "/api/resources", 200],
        ["/api/session", "/api/session", 200],
        ["/api/approvals", "/api/approvals", 200],
      ] as const
    ) {
      const { schema } = paths[described].get.responses[status].content["application/json"];
      const checked = createSchemaValidator()(schema)(await (await world.ask(path)).json());
      assertEquals(checked.valid, true, `${path}: ${JSON.stringify(checked)}`);
    }
  });
});

describe("what stands before each route", () => {
  it("refuses foreign hosts and origins before anything is looked at", async () => {
    await using world = await createWorld();
    const hosts = ["attacker.test", "127.0.0.1.attacker.test", "localhost.", "[::1].attacker.test"];
    for (
      const headers of [...hosts.map((host) => ({ host })), { origin: "https://attacker.test" }, { origin: "null" }]
    ) {
      for (const path of ["/api/tools", "/healthz", "/mcp", "/none"]) {
        const response = await world.ask(path, { headers });
        assertEquals([response.status, (await problemOf(response)).code], [403, "forbidden"], JSON.stringify(headers));
        assertEquals(response.headers.get("access-control-allow-origin"), null);
      }
    }
    assertEquals(world.audit, []);
  });

  it("opens replies to pages that are allowed, never with credentials", async () => {
    const origin = "https://app.example.com";
    for (const allowedOrigins of [[origin], "*" as const]) {
      await using world = await createWorld({ allowedOrigins });
      const response = await world.ask("/api/tools", { headers: { origin } });
      assertEquals(response.headers.get("access-control-allow-origin"), origin);
      assertEquals(response.headers.get("access-control-allow-credentials"), null);
      assertMatch(response.headers.get("vary") ?? "", /Origin/);
      const refused = await world.ask("/api/tools", { as: "nobody", headers: { origin } });
      assertEquals([refused.status, refused.headers.get("access-control-allow-origin")], [401, origin]);
      const preflight = await world.ask("/api/runs", {
        as: undefined,
        method: "OPTIONS",
        headers: {
          origin,
          "access-control-request-method": "POST",
          "access-control-request-headers": "x-stainless-os",
        },
      });
      assertEquals(preflight.status, 204);
      assertMatch(preflight.headers.get("access-control-allow-headers") ?? "", /Idempotency-Key.*x-stainless-os/);
      assertEquals(preflight.headers.get("access-control-allow-credentials"), null);
    }
  });

  it("takes its own pages for its own, wherever it is", async () => {
    await using world = await createWorld({ allowedHosts: ["runner.example"] });
    const send = async (origin: string) =>
      (await world.ask("/healthz", { headers: { host: "runner.example", origin } })).status;
    assertEquals([await send("https://runner.example"), await send("https://runner.example.org")], [200, 403]);
    assertEquals([await send("https://attacker.test"), await send("https://runner.example:444")], [403, 403]);
  });

  it("names each request, by the caller's name where that is sound", async () => {
    await using world = await createWorld();
    const id = async (given?: string) => {
      const response = await world.ask("/none", { headers: given === undefined ? {} : { "x-request-id": given } });
      const { requestId } = await problemOf(response);
      assertEquals(response.headers.get("x-request-id"), requestId);
      return String(requestId);
    };
    assertEquals(await id("abc-123.4:5_6"), "abc-123.4:5_6");
    for (const wrong of [undefined, "", "a b", "a".repeat(129), "<script>"]) {
      assertMatch(await id(wrong), /^[0-9a-f]{32}$/);
    }
  });

  it("puts the same headers on whatever it answers", async () => {
    await using world = await createWorld();
    for (const path of ["/healthz", "/api/tools", "/none", "/v1/models"]) {
      const { headers } = await world.ask(path);
      assertEquals(headers.get("x-content-type-options"), "nosniff", path);
      assertEquals(headers.get("referrer-policy"), "no-referrer");
      assertEquals(headers.get("cross-origin-resource-policy"), "same-origin");
      assertMatch(headers.get("content-security-policy") ?? "", /^default-src 'none'; frame-ancestors 'none'/);
      assertEquals(headers.get("cache-control"), "no-store");
    }
  });

  it("refuses parameters that it does not know, or that make no sense", async () => {
    await using world = await createWorld();
    for (
      const [query, pointer] of [
        ["limit=0", "limit"],
        ["limit=1001", "limit"],
        ["limit=x", "limit"],
        ["limit=1&limit=2", "limit"],
        ["__proto__=1", "__proto__"],
        ["nothing=1", "nothing"],
        [`query=${"x".repeat(1_001)}`, "query"],
      ] as const
    ) {
      const problem = await problemOf(await world.ask(`/api/tools?${query}`));
      assertEquals([problem.status, (problem.errors as { pointer: string }[])[0]?.pointer], [400, pointer], query);
    }
    const tenant = await world.ask("/api/tools", { headers: { "causeway-tenant": "a b" } });
    assertEquals([tenant.status, (await problemOf(tenant)).code], [400, "invalid_request"]);
  });

  it("is over when it is closed", async () => {
    const world = await createWorld();
    await world.ask("/api/tools");
    await world.runner.close();
    await world.runner.close();
    const response = await world.ask("/api/tools");
    assertEquals([response.status, (await problemOf(response)).code], [503, "closing"]);
  });

  it("puts the same headers on what it answers by itself, on JSON, on problems and on what is handed through", async () => {
    const plain: Route = { ...own, path: "/api/plain", policy: { kind: "public", why: "It is a test" } };
    const foreign = () => new Response("{}", { headers: { "access-control-allow-credentials": "true" } });
    const json: Route = { ...plain, path: "/api/json", answer: (call) => call.json({}, 201, { location: "/x" }) };
    await using world = await createWorld({ routes: [{ ...plain, answer: foreign }, json] });
    const headers = { origin: "http://localhost:8000", "x-request-id": "one" };
    const said = async (path: string): Promise<Record<string, string>> => {
      const response = await world.ask(path, { headers });
      await response.body?.cancel();
      const { "content-type": _type, "content-length": _length, location: _location, ...rest } = Object.fromEntries(
        response.headers,
      );
      return rest;
    };
    const usual = await said("/api/plain");
    // Programs of OpenAI's library look at it before they ask again.
    assertMatch(usual["access-control-expose-headers"] ?? "", /\bX-Should-Retry\b/);
    assertEquals(usual, {
      "access-control-allow-origin": "http://localhost:8000",
      "access-control-expose-headers": usual["access-control-expose-headers"] ?? "",
      "cache-control": "no-store",
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "referrer-policy": "no-referrer",
      vary: "Origin",
      "x-content-type-options": "nosniff",
      "x-request-id": "one",
    });
    assertEquals(await said("/api/json"), usual);
    assertEquals(await said("/api/nothing"), usual);
  });

  it("takes nothing more once it is closed, whatever is asked for", async () => {
    await using world = await createWorld();
    assertEquals((await world.ask("/healthz")).status, 200);
    await world.runner.close();
    for (const path of ["/healthz", "/api/session", "/api/tools", "/api/runs"]) {
      const refused = await world.ask(path);
      assertEquals([refused.status, (await problemOf(refused)).code], [503, "closing"], path);
    }
  });

  it("refuses a word in the query that is none of those that there are, and names of every object", async () => {
    await using world = await createWorld();
    assertEquals((await world.ask("/api/runs?state=running")).status, 200);
    for (const query of ["state=runing", "state=running&state=running", "constructor=1", "limit=1x", "limit=x1"]) {
      const refused = await world.ask(`/api/runs?${query}`);
      assertEquals([refused.status, (await problemOf(refused)).code], [400, "invalid_request"], query);
    }
  });
});
