/** The metadata of a protected resource (S-112; RFC 9728). */
import { describe, test } from "node:test";
import { assertEquals, assertThrows } from "@std/assert";
import { protectResource } from "../../../src/server/mod.ts";
import { send } from "../http/support.ts";
import { guard, issuer, metadataUrl, protect, resourceUrl } from "./support.ts";

const get = (path: string, method = "GET", headers: Record<string, string> = {}) =>
  send(method, headers, {}, `http://localhost:3000${path}`);

describe("the metadata of a protected resource", () => {
  test("it says what the resource is and who issues tokens for it, to anybody", async () => {
    const { handler, resource, asked } = protect({
      requiredScopes: ["mcp:use"],
      scopesSupported: ["mcp:use", "files:write"],
      resourceName: "Private things",
      resourceDocumentation: "https://docs.example.com",
      metadata: { resource_policy_uri: "https://docs.example.com/policy", resource: "https://evil.example" },
    });
    const response = await handler(get("/.well-known/oauth-protected-resource/mcp"));
    assertEquals(response.status, 200);
    assertEquals(response.headers.get("content-type"), "application/json");
    const document = await response.json();
    assertEquals(document, {
      resource: resourceUrl,
      authorization_servers: [issuer],
      bearer_methods_supported: ["header"],
      scopes_supported: ["mcp:use", "files:write"],
      resource_name: "Private things",
      resource_documentation: "https://docs.example.com",
      resource_policy_uri: "https://docs.example.com/policy",
    });
    assertEquals(resource.metadata as unknown, document);
    assertEquals(resource.metadataUrl, metadataUrl);
    assertEquals(asked, []);
  });

  test("it is at the root too, where clients of 2025-06-18 look, and nowhere else", async () => {
    const { handler } = protect();
    for (const path of ["", "/", "/mcp", "/mcp/", "/mcp?x=1"]) {
      const response = await handler(get(`/.well-known/oauth-protected-resource${path}`));
      assertEquals(response.status, 200, path);
      assertEquals((await response.json()).resource, resourceUrl);
    }
    for (const path of ["/other", "/mcp/more", "/MCP"]) {
      assertEquals((await handler(get(`/.well-known/oauth-protected-resource${path}`))).status, 404, path);
    }
    for (const path of ["/.well-known/oauth-protected-resources", "/mcp", "/x/.well-known/oauth-protected-resource"]) {
      assertEquals((await handler(get(path))).status, 401, path);
    }
  });

  test("a resource at the root of its host has one place", async () => {
    const { handler, resource } = protect({ resource: "http://localhost:3000" });
    assertEquals([...resource.paths], ["/.well-known/oauth-protected-resource"]);
    const response = await handler(get("/.well-known/oauth-protected-resource"));
    assertEquals((await response.json()).resource, "http://localhost:3000");
    assertEquals((await handler(get("/.well-known/oauth-protected-resource/mcp"))).status, 404);
  });

  test("only reading makes sense", async () => {
    const { handler } = protect();
    const path = "/.well-known/oauth-protected-resource/mcp";
    for (const method of ["POST", "PUT", "DELETE"]) {
      const response = await handler(get(path, method));
      assertEquals([response.status, response.headers.get("allow")], [405, "GET, HEAD, OPTIONS"]);
    }
    const head = await handler(get(path, "HEAD"));
    assertEquals([head.status, await head.text()], [200, ""]);
  });

  test("pages of allowed origins can read it, after a preflight; foreign pages and names cannot", async () => {
    const { handler } = protect();
    const path = "/.well-known/oauth-protected-resource/mcp";
    const origin = "http://localhost:5173";
    const asks = {
      origin,
      "access-control-request-method": "GET",
      "access-control-request-headers": "mcp-protocol-version",
    };
    const preflight = await handler(get(path, "OPTIONS", asks));
    assertEquals(preflight.status, 204);
    assertEquals(preflight.headers.get("access-control-allow-origin"), origin);
    assertEquals(preflight.headers.get("access-control-allow-headers")?.includes("MCP-Protocol-Version"), true);
    const read = await handler(get(path, "GET", { origin }));
    assertEquals([read.status, read.headers.get("access-control-allow-origin")], [200, origin]);
    assertEquals((await handler(get(path, "GET", { origin: "https://evil.example" }))).status, 403);
    const foreign = await handler(send("GET", {}, {}, `http://evil.example${path}`));
    assertEquals(foreign.status, 403);
  });

  test("a cache between us keeps what one caller got from all whose Origin differs", async () => {
    const { handler } = protect();
    const path = "/.well-known/oauth-protected-resource/mcp";
    for (const headers of [{}, { origin: "http://localhost:5173" }]) {
      const response = await handler(get(path, "GET", headers));
      assertEquals(response.headers.get("vary"), "Origin", JSON.stringify(headers));
    }
  });

  test("a page can read why it was sent away", async () => {
    const { handler } = protect();
    const response = await handler(get("/mcp", "POST", { origin: "http://localhost:5173" }));
    assertEquals(response.status, 401);
    assertEquals(response.headers.get("access-control-expose-headers")?.includes("WWW-Authenticate"), true);
  });

  test("the resource is what the author wrote, whatever the request says", async () => {
    const { handler } = protect({ resource: "https://mcp.example.com/mcp" });
    const headers = { "x-forwarded-host": "evil.example", forwarded: "host=evil.example" };
    const response = await handler(get("/.well-known/oauth-protected-resource/mcp", "GET", headers));
    assertEquals((await response.json()).resource, "https://mcp.example.com/mcp");
  });

  test("a URL that is none is refused at once, however long it is", () => {
    // It took the square of its length: of this one more than an hour.
    const long = `https://${"a".repeat(3_000_000)} `;
    assertThrows(() => guard({ resource: long }), TypeError, "expected an absolute URL");
  });

  test("options that make no sense are refused", () => {
    for (
      const resource of [
        "",
        "mcp.example.com",
        "/mcp",
        "http://mcp.example.com/mcp",
        "https://mcp.example.com/mcp?x=1",
        "https://mcp.example.com/mcp#x",
        "https://user@mcp.example.com/mcp",
        "https://:secret@mcp.example.com/mcp",
        "ftp://mcp.example.com",
        "ftp://localhost/mcp",
        "https:mcp.example.com",
        "https://mcp.example.com/x/../mcp",
        "https://mcp.example.com/my mcp",
      ]
    ) {
      assertThrows(() => guard({ resource }), TypeError, "Cannot protect");
    }
    assertThrows(() => guard({ authorizationServers: [] }), TypeError, "expected an authorization server");
    for (const name of ["authorizationServers", "requiredScopes", "scopesSupported"]) {
      for (const wrong of ["mcp:use", null, {}]) {
        assertThrows(() => guard({ [name]: wrong }), TypeError, `"${name}" is no list of texts`);
      }
    }
    assertThrows(() => guard({ authorizationServers: ["auth.example.com"] }), TypeError, "Cannot name");
    assertThrows(() => guard({ audience: [] }), TypeError, "no audience");
    assertThrows(() => guard({ audience: "" }), TypeError, "no audience");
    assertThrows(() => guard({ requiredScopes: ["two words"] }), TypeError, "Cannot use the scope");
    assertThrows(() => guard({ requiredScopes: ['a"b'] }), TypeError, "Cannot use the scope");
    assertThrows(() => guard({ scopesSupported: ["offline_access"] }), TypeError, "offline_access");
    for (const clockTolerance of [-1, NaN, Infinity]) {
      assertThrows(() => guard({ clockTolerance }), TypeError, "clock tolerance");
    }
    const options = { resource: resourceUrl, authorizationServers: [issuer] };
    assertThrows(() => protectResource(options as never), TypeError, '"verify"');
  });
});
