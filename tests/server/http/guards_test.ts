import { describe, test } from "node:test";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { Guards } from "../../../src/server/http/guards.ts";
import { initialize, modernPost, post, refusal, send, world } from "./support.ts";

const methods = ["POST", "GET", "DELETE", "OPTIONS", "PUT"];

describe("what stands before every route", () => {
  test("a foreign Origin is refused on every route, before anything else is looked at (S-020)", async () => {
    let asked = 0;
    const { handler } = world({ auth: () => void asked++ });
    for (const method of methods) {
      for (
        const origin of [
          "https://evil.example",
          "null",
          "http://localhost.evil.example",
          "http://evil@localhost",
          "file://",
        ]
      ) {
        const response = await handler(send(method, { origin }));
        assertEquals(await refusal(response), [403, -32600]);
        assertEquals(response.headers.get("access-control-allow-origin"), null);
      }
    }
    assertEquals(asked, 0);
  });

  test("a foreign Host is refused on every route: a name that was bent to this machine does not help (S-021)", async () => {
    const { handler } = world();
    for (const method of methods) {
      for (const host of ["evil.example", "evil.example:3000", "10.0.0.1", "localhost.evil.example"]) {
        assertEquals(await refusal(await handler(send(method, {}, {}, `http://${host}/mcp`))), [403, -32600]);
      }
    }
  });

  test("what is refused names the option that lets it through", async () => {
    const { handler } = world();
    const said = async (response: Response) => JSON.stringify(await response.json());
    assert((await said(await handler(send("POST", {}, {}, "https://mcp.example.com/mcp")))).includes("allowedHosts"));
    assert((await said(await handler(send("POST", { origin: "https://a.example" })))).includes("allowedOrigins"));
  });

  test("the names of this machine are let through, and requests that come from no page", async () => {
    const { handler } = world();
    for (const host of ["localhost", "localhost:8080", "127.0.0.1:3000", "[::1]:3000", "127.1.2.3"]) {
      const { body, headers } = modernPost("tools/list");
      const text = await new Response(body).text();
      const response = await handler(send("POST", Object.fromEntries(headers), { body: text }, `http://${host}/mcp`));
      assertEquals(response.status, 200, host);
    }
    for (const origin of ["http://localhost", "http://localhost:5173", "https://127.0.0.1:8443", "http://[::1]:3000"]) {
      const response = await handler(modernPost("tools/list", {}, { origin }));
      assertEquals(response.status, 200, origin);
      assertEquals(response.headers.get("access-control-allow-origin"), origin);
    }
  });

  test("what is allowed by name is let through, and nothing beside it", async () => {
    const { handler } = world({
      allowedHosts: ["MCP.example.com", "other.example:8443"],
      allowedOrigins: ["https://app.example.com/"],
    });
    const status = async (host: string, origin?: string) =>
      (await handler(send("GET", { origin }, {}, `https://${host}/mcp`))).status;
    assertEquals(await status("mcp.example.com"), 400);
    assertEquals(await status("mcp.example.com:9000"), 400);
    assertEquals(await status("other.example:8443"), 400);
    assertEquals(await status("other.example"), 403);
    assertEquals(await status("localhost"), 403);
    assertEquals(await status("mcp.example.com", "https://app.example.com"), 400);
    assertEquals(await status("mcp.example.com", "http://app.example.com"), 403);
    assertEquals(await status("mcp.example.com", "https://mcp.example.com"), 403);
    assertEquals(await status("mcp.example.com", "http://localhost:3000"), 403);
  });

  test("a Host and an Origin are the same in capital letters, and one text is one name", () => {
    // Types want a list, or "*".
    const one = (name: string) => name as "*";
    const guards = new Guards({
      allowedHosts: one("MCP.example.com:8443"),
      allowedOrigins: one("HTTPS://App.example.com"),
    });
    // Not every runtime lets a request be made that says this of itself.
    const status = (host: string, origin?: string) => {
      const headers = new Headers({ "x-host": host, ...(origin && { origin }) });
      const get = (name: string) => headers.get(name === "host" ? "x-host" : name);
      return guards.refuse({ headers: { get }, url: "http://localhost/" } as Request)?.status;
    };
    assertEquals(["mcp.example.com:8443", "MCP.Example.COM:8443"].map((host) => status(host)), [undefined, undefined]);
    assertEquals(status("mcp.example.com:8443", "https://APP.example.com"), undefined);
    assertEquals([status("mcp.example.com"), status("localhost"), status("M")], [403, 403, 403]);
    assertEquals(status("mcp.example.com:8443", "https://app.example.com.evil.example"), 403);
    const plain = new Guards({ allowedHosts: ["mcp.example.com"] });
    const request = { headers: { get: (name: string) => name === "host" ? "MCP.example.com:9000" : null } };
    assertEquals(plain.refuse({ ...request, url: "http://localhost/" } as unknown as Request), undefined);
  });

  test("pages of schemes that are not the web's may be allowed by name", async () => {
    const { handler } = world({ allowedOrigins: ["vscode-webview://Abc", "capacitor://localhost/"] });
    const status = async (origin: string) => (await handler(send("GET", { origin }))).status;
    for (const origin of ["vscode-webview://abc", "vscode-webview://Abc", "capacitor://localhost"]) {
      assertEquals(await status(origin), 400, origin);
    }
    for (const origin of ["vscode-webview://abcd", "abc", "null", "http://localhost"]) {
      assertEquals(await status(origin), 403, origin);
    }
    for (
      const origin of ["null", "file://", "mailto:me", "data:text/html,x", "", "https://*.example.com", "https://*"]
    ) {
      assertThrows(() => world({ allowedOrigins: [origin] }), TypeError, "Cannot allow the origin");
    }
  });

  test("anything is allowed only where that was written out", async () => {
    const { handler } = world({ allowedHosts: "*", allowedOrigins: ["*"] });
    const response = await handler(send("GET", { origin: "https://any.example" }, {}, "https://mcp.example.com/mcp"));
    assertEquals(response.status, 400);
    assertEquals((await world({ allowedHosts: [] }).handler(send("GET"))).status, 403);
    assertThrows(() => world({ allowedOrigins: ["app.example.com"] }), TypeError, '"app.example.com"');
    for (
      const host of [
        "https://mcp.example.com",
        "mcp.example.com/mcp",
        "me@mcp.example.com",
        " a.example",
        "*.example.com",
        "a.example,b.example",
      ]
    ) {
      assertThrows(() => world({ allowedHosts: [host] }), TypeError, `the host "${host}": expected one like`);
    }
  });

  test("a browser is told what a page may send and read (S-039)", async () => {
    const { handler } = world();
    const origin = "http://localhost:5173";
    const asked = "content-type, mcp-param-region, x-own, Mcp-Param-Bad Name, x-mcp-param-else";
    const preflight = await handler(
      send("OPTIONS", { origin, "access-control-request-method": "POST", "access-control-request-headers": asked }),
    );
    assertEquals(preflight.status, 204);
    assertEquals(preflight.headers.get("access-control-allow-origin"), origin);
    const allowed = preflight.headers.get("access-control-allow-headers")!.toLowerCase().split(", ");
    for (
      const name of [
        "mcp-method",
        "mcp-name",
        "mcp-protocol-version",
        "mcp-session-id",
        "authorization",
        "last-event-id",
        "mcp-param-region",
      ]
    ) assert(allowed.includes(name), name);
    assert(!allowed.includes("x-own") && !allowed.includes("x-mcp-param-else"));
    const plain = await handler(send("OPTIONS", {}));
    assertEquals([plain.status, plain.headers.get("allow")], [204, "POST, GET, DELETE, OPTIONS"]);
    assertEquals(plain.headers.get("access-control-allow-methods"), null, "who is no page is told of no pages");
    assert(!allowed.some((name) => name.includes("bad")));
    assertEquals(preflight.headers.get("access-control-allow-methods"), "POST, GET, DELETE, OPTIONS");
    const reply = await handler(modernPost("tools/list", {}, { origin }));
    assertEquals(reply.headers.get("access-control-expose-headers"), "Mcp-Session-Id, WWW-Authenticate, Retry-After");
    assertEquals(reply.headers.get("vary"), "Origin");
    assertEquals(reply.headers.get("access-control-allow-credentials"), null);
  });
});

describe("who the caller is", () => {
  test("a reply of auth goes out as it is, readable for pages, and nothing is processed", async () => {
    const challenge = 'Bearer resource_metadata="https://mcp.example/.well-known/oauth-protected-resource"';
    const { handler, seen, sessions } = world({
      auth: () => new Response("sign in", { status: 401, headers: { "www-authenticate": challenge } }),
    });
    const response = await handler(modernPost("tools/call", { name: "x" }, { origin: "http://localhost:1" }));
    assertEquals(response.status, 401);
    assertEquals(response.headers.get("www-authenticate"), challenge);
    assertEquals(response.headers.get("access-control-allow-origin"), "http://localhost:1");
    assertEquals((await handler(post({ not: "read" }))).status, 401);
    assertEquals([seen.length, sessions.length], [0, 0]);
  });

  test("what auth found out reaches the era", async () => {
    const { handler, seen } = world({ auth: (request) => ({ principal: request.headers.get("authorization") ?? "" }) });
    await handler(modernPost("tools/list", {}, { authorization: "Bearer alice" }));
    assertEquals(seen[0]?.auth?.principal, "Bearer alice");
  });

  test("when auth fails, the reply says nothing about it, and the operator hears of it", async () => {
    const { handler, logs } = world({
      auth: () => {
        throw new Error("secret database at 10.0.0.3");
      },
    });
    const response = await handler(modernPost("tools/list"));
    assertEquals(response.status, 500);
    assertEquals(await response.json(), { jsonrpc: "2.0", error: { code: -32603, message: "Internal error" } });
    assertEquals(logs.length, 1);
  });

  test("a session belongs to whom it was opened for", async () => {
    const auth = (request: Request) => ({ principal: request.headers.get("authorization") ?? "" });
    const all = world({ auth });
    const session = await initialize(all, { authorization: "alice" });
    const body = { jsonrpc: "2.0", id: 2, method: "tools/list" };
    assertEquals((await all.handler(post(body, session))).status, 200);
    for (const method of ["GET", "DELETE"]) {
      assertEquals((await all.handler(send(method, { ...session, authorization: "mallory" }))).status, 404);
    }
    assertEquals((await all.handler(post(body, { ...session, authorization: "mallory" }))).status, 404);
    assertEquals(all.sessions[0]?.closed, false);
  });
});
