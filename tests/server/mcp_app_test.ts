import { assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "node:test";
import { createMcpApp } from "../../src/runner/mcp_app.ts";

const origin = "https://mcp.example.com";
const name = ({ method, url }: Request) => new Response(`${method} ${new URL(url).pathname}`);

async function ask(app: ReturnType<typeof createMcpApp>, path: string, method = "GET"): Promise<string> {
  const response = await app.fetch(new Request(origin + path, { method }));
  const text = await response.text();
  return response.status === 200 ? text : `${response.status}`;
}

describe("an application with one endpoint", () => {
  it("serves its path in all methods, with a slash in the end or without", async () => {
    const app = createMcpApp(name);
    for (const method of ["GET", "POST", "DELETE", "OPTIONS", "PUT"]) {
      assertEquals(await ask(app, "/mcp", method), `${method} /mcp`);
    }
    assertEquals(await ask(app, "/mcp/?a=b", "POST"), "POST /mcp/");
  });

  it("serves nothing else", async () => {
    const app = createMcpApp(name, { path: "/one/two/" });
    for (const path of ["/", "/mcp", "/one", "/one/two//", "/one/two/three", "/a/one/two", "/ONE/two", "/__proto__"]) {
      assertEquals(await ask(app, path), "404", path);
    }
    assertEquals(await ask(app, "/one/two"), "GET /one/two");
  });

  it("serves the root, and the paths of its proof", async () => {
    const app = createMcpApp(name, { path: "/", auth: { paths: ["/.well-known/oauth-protected-resource"] } });
    assertEquals(await ask(app, "/"), "GET /");
    assertEquals(await ask(app, "/.well-known/oauth-protected-resource"), "GET /.well-known/oauth-protected-resource");
    assertEquals(await ask(app, "/mcp"), "404");
  });

  it("refuses a pattern, which it would never find", () => {
    for (const path of ["/mcp/*", "/:tenant/mcp"]) {
      assertThrows(() => createMcpApp(name, { path }), TypeError, `Cannot serve the path "${path}"`);
    }
  });
});
