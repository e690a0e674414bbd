/** A protected server as it is used: with our own client, in Hono, behind agents, and with the JWT verifier. */
import { describe, test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import { connect, UnauthorizedError } from "../../../mod.ts";
import type { Client } from "../../../mod.ts";
import { createAgentHandler, createModelHandler } from "../../../src/agent/mod.ts";
import { createJwtVerifier } from "../../../src/auth/mod.ts";
import { createMcpApp } from "../../../src/runner/mcp_app.ts";
import type { Era } from "../../../src/protocol/revisions.ts";
import { AuthorizationServer, createKey, sign } from "../../auth/verify/authorization_server.ts";
import { heldRequest } from "../../support/held_request.ts";
import { send } from "../http/support.ts";
import { challengeOf, guard, issuer, metadataUrl, protect, type Protected, resourceUrl, token } from "./support.ts";

function open({ handler }: Protected, bearer?: string, era?: Era): Promise<Client> {
  return connect(
    resourceUrl,
    {
      fetch: (url, init) => handler(heldRequest(url, init)),
      ...(bearer !== undefined && { headers: { authorization: `Bearer ${bearer}` } }),
      ...(era && { era }),
    } as Parameters<typeof connect>[1],
  );
}

describe("our own client at a protected server", () => {
  test("without a token it learns where to get one", async () => {
    const world = protect({ requiredScopes: ["mcp:use"] });
    const error = await assertRejects(() => open(world), UnauthorizedError);
    assertEquals(error.status, 401);
    assertEquals(error.challenge, `Bearer scope="mcp:use", resource_metadata="${metadataUrl}"`);
    const { hostname, pathname } = new URL(/resource_metadata="([^"]+)"/.exec(error.challenge)![1]!);
    const metadata = await world.handler(send("GET", {}, {}, `http://${hostname}:3000${pathname}`));
    assertEquals((await metadata.json()).authorization_servers, [issuer]);
  });

  test("with one it is served", async () => {
    await using client = await open(protect(), token);
    const { content } = await client.callTool("whoami");
    assertEquals(JSON.parse((content[0] as { text: string }).text).principal, `${issuer}#ada`);
  });

  test("a tool that needs more scope rejects, with the scope that is needed", async () => {
    const world = protect();
    world.server.tool("write", {}, (_args, { auth }) => {
      world.resource.demand(auth, "files:write");
      return "written";
    });
    await using client = await open(world, token);
    const error = await assertRejects(() => client.callTool("write"), UnauthorizedError);
    assertEquals([error.status, /scope="([^"]*)"/.exec(error.challenge)?.[1]], [403, "files:write"]);
    assertEquals((await client.callTool("whoami")).isError, undefined);
  });

  test("with the tokens of an authorization server", async () => {
    const key = await createKey("one");
    const server = new AuthorizationServer(key);
    const world = protect({
      verify: createJwtVerifier({ issuer, fetch: server.fetch, clock: protect().clock }),
      requiredScopes: ["mcp:use"],
    });
    await using client = await open(world, await sign(key, { aud: resourceUrl }));
    assertEquals((await client.callTool("whoami")).isError, undefined);
    const elsewhere = await sign(key, { aud: "https://other.example/mcp" });
    const error = await assertRejects(() => open(world, elsewhere), UnauthorizedError);
    assertEquals(/error="([^"]*)"/.exec(error.challenge)?.[1], "invalid_token");
    server.documents.clear();
    const down = protect({ verify: createJwtVerifier({ issuer, fetch: server.fetch, clock: world.clock }) });
    const response = await down.handler(send("GET", { authorization: `Bearer ${await sign(key)}` }));
    assertEquals([response.status, response.headers.get("retry-after")], [503, "5"]);
  });
});

describe("where a protected server is mounted", () => {
  const paths = ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"];
  const at = (path: string, headers: Record<string, string> = {}, method = "GET") =>
    send(method, headers, {}, `http://localhost:3000${path}`);

  test("in Hono: the metadata beside the endpoint, and nothing else", async () => {
    const { handler, resource } = protect();
    const app = createMcpApp(handler, { auth: resource });
    for (const path of paths) assertEquals((await app.fetch(at(path))).status, 200, path);
    assertEquals((await app.fetch(at("/mcp"))).status, 401);
    assertEquals((await app.fetch(at(paths[0]!, { origin: "http://localhost:5173" }, "OPTIONS"))).status, 204);
    for (
      const path of ["/", "/.well-known/oauth-protected-resource/other", "/.well-known/oauth-authorization-server"]
    ) {
      assertEquals((await app.fetch(at(path))).status, 404, path);
    }
    const open = createMcpApp(handler);
    for (const path of paths) assertEquals((await open.fetch(at(path))).status, 404, path);
  });

  test("behind the routes of an agent and a model, which need the same token", async () => {
    const { resource } = guard();
    const agent = {
      getMcpToolDefinitions: () => [{ name: "roll-dice", inputSchema: {} }],
      executeMcpTool: () => 4,
      respond: () => "hello",
    };
    const handlers = [createAgentHandler(agent, { auth: resource }), createModelHandler(agent, { auth: resource })];
    for (const handler of handlers) {
      for (const path of paths) {
        const response = await handler(at(path, { origin: "http://localhost:5173" }));
        assertEquals([response.status, (await response.json()).resource], [200, resourceUrl], path);
        assertEquals(response.headers.get("access-control-allow-origin"), "http://localhost:5173");
      }
      const refused = await handler(at("/v1/models"));
      assertEquals([refused.status, challengeOf(refused).resource_metadata], [401, metadataUrl]);
      assertEquals((await handler(at("/v1/models", { authorization: `Bearer ${token}` }))).status, 200);
    }
  });
});
