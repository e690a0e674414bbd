/** Scopes: what every request needs, hierarchies, and what a handler demands on top (S-113, S-116). */
import { describe, test } from "node:test";
import { assertEquals, assertThrows } from "@std/assert";
import { createAgentHandler } from "../../../src/agent/mod.ts";
import { InvalidRequestError } from "../../../src/protocol/errors.ts";
import type { RequestContext } from "../../../src/server/mod.ts";
import { EventReader, modernPost, post, rpc, send } from "../http/support.ts";
import { call, challengeOf, type Choices, guard, metadataUrl, protect, sound, token } from "./support.ts";

/** A server with a tool that needs more scope than its caller may have. */
function demanding(choices: Choices = {}) {
  const world = protect({ requiredScopes: ["mcp:use"], claims: { ...sound, scopes: ["mcp:use"] }, ...choices });
  const { server, resource } = world;
  const write = async ({ auth, progress }: RequestContext, tells = false): Promise<string> => {
    if (tells) progress({ progress: 1 });
    await Promise.resolve();
    resource.demand(auth, "files:write");
    return "written";
  };
  server.tool("write", {}, (_args, context) => write(context));
  server.tool("tell-and-write", {}, (_args, context) => write(context, true));
  server.tool("both", {}, (_args, { auth }) => {
    resource.demand(auth, "mcp:use", "files:write", "files:delete");
    return "done";
  });
  server.resource("memo://secret", { name: "secret" }, async (_uri, context) => await write(context));
  server.prompt("secret", {}, async (_args, context) => await write(context));
  return world;
}

describe("scopes that every request needs", () => {
  test("all of them, and more do no harm", async () => {
    const requiredScopes = ["a", "b"];
    for (
      const [scopes, status] of [[["b", "c", "a"], 200], [["a"], 403], [[], 403], [undefined, 403], [["A", "b"], 403]]
    ) {
      const { handler } = protect({ requiredScopes, claims: { ...sound, scopes } });
      assertEquals((await handler(call("whoami"))).status, status as number, JSON.stringify(scopes));
    }
  });

  test("one that stands for others is honoured where the author says so", async () => {
    const includes = (granted: string, wanted: string) => granted === "admin" || granted === wanted.split(":")[0];
    const requiredScopes = ["files:read", "mcp:use"];
    for (const [scopes, status] of [[["admin"], 200], [["files", "mcp"], 200], [["files"], 403], [["mcp:use"], 403]]) {
      const { handler } = protect({ requiredScopes, includes, claims: { ...sound, scopes } });
      assertEquals((await handler(call("whoami"))).status, status as number, JSON.stringify(scopes));
    }
  });

  test("a promise is no word of the author's: nothing is granted by it", async () => {
    const includes = (() => Promise.resolve(false)) as unknown as () => boolean;
    const { handler } = protect({ requiredScopes: ["admin"], includes, claims: { ...sound, scopes: ["read"] } });
    assertEquals((await handler(call("whoami"))).status, 403);
  });
});

describe("scopes that a handler demands", () => {
  const expected = {
    error: "insufficient_scope",
    error_description: "The token allows too little",
    scope: "mcp:use files:write",
    resource_metadata: metadataUrl,
  };

  test("who has them goes on", async () => {
    const { handler } = demanding({ claims: { ...sound, scopes: ["mcp:use", "files:write"] } });
    const response = await handler(call("write"));
    assertEquals([response.status, (await response.json()).result.content[0].text], [200, "written"]);
  });

  test("who lacks one gets 403 with all that the request needs, in tools, resources and prompts", async () => {
    const { handler, logs } = demanding();
    const authorization = `Bearer ${token}`;
    const requests = [
      call("write"),
      modernPost("resources/read", { uri: "memo://secret" }, { authorization }),
      modernPost("prompts/get", { name: "secret" }, { authorization }),
    ];
    for (const request of requests) {
      const response = await handler(request);
      assertEquals(response.status, 403);
      assertEquals(challengeOf(response), expected);
      const { id, error } = await response.json();
      assertEquals([id, error.code, error.data], [1, -32600, { requiredScopes: ["mcp:use", "files:write"] }]);
    }
    assertEquals(logs, []);
  });

  test("all that is demanded is in one challenge", async () => {
    const { handler } = demanding();
    const response = await handler(call("both"));
    assertEquals([response.status, challengeOf(response).scope], [403, "mcp:use files:write files:delete"]);
  });

  test("a handler that makes do without says nothing of it", async () => {
    const { handler, server, resource } = demanding();
    server.tool("try", {}, (_args, { auth }) => {
      try {
        resource.demand(auth, "files:write");
        return "written";
      } catch {
        return "only looked";
      }
    });
    const response = await handler(call("try"));
    assertEquals([response.status, response.headers.get("www-authenticate")], [200, null]);
    assertEquals((await response.json()).result.content[0].text, "only looked");
  });

  test("callers are told apart: one's demand is not another's challenge", async () => {
    const { handler } = demanding();
    const [first, second] = await Promise.all([handler(call("write")), handler(call("whoami"))]);
    assertEquals([first.status, second.status, second.headers.get("www-authenticate")], [403, 200, null]);
  });

  test("legacy clients get the same", async () => {
    const { handler } = demanding();
    const authorization = `Bearer ${token}`;
    const opened = await handler(
      post(rpc("initialize", 1, { protocolVersion: "2025-11-25", capabilities: {} }), { authorization }),
    );
    const headers = { authorization, "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
    const response = await handler(post(rpc("tools/call", 2, { name: "write", arguments: {} }), headers));
    assertEquals([response.status, challengeOf(response)], [403, expected]);
    const { id, error } = await response.json();
    assertEquals([id, error.code], [2, -32600]);
  });

  test("after something was sent, the error alone says it", async () => {
    const { handler } = demanding();
    const _meta = { ...(await bodyOf(call("whoami"))).params._meta, progressToken: 1 };
    const request = modernPost("tools/call", { name: "tell-and-write", arguments: {}, _meta }, {
      authorization: `Bearer ${token}`,
    });
    const response = await handler(request);
    assertEquals(response.status, 200);
    const reader = new EventReader(response);
    const seen = [await reader.message(), await reader.message()] as { method?: string; error?: { code: number } }[];
    assertEquals([seen[0]?.method, seen[1]?.error?.code], ["notifications/progress", -32600]);
  });

  test("plain-HTTP callers of an agent get it too", async () => {
    const { resource } = guard({ claims: { ...sound, scopes: [] } });
    const handler = createAgentHandler({
      getMcpToolDefinitions: () => [{ name: "write", inputSchema: {} }],
      executeMcpTool: (_name, _args, { auth }) => {
        resource.demand(auth, "files:write");
        return "written";
      },
    }, { auth: resource });
    const response = await handler(send(
      "POST",
      { authorization: `Bearer ${token}`, "content-type": "application/json" },
      { body: "{}" },
      "http://localhost:3000/tools/write",
    ));
    assertEquals([response.status, challengeOf(response).scope], [403, "files:write"]);
    assertEquals((await response.json()).error.code, "insufficient_scope");
  });

  test("nobody known has no scope, and a scope that cannot be one is the author's mistake", () => {
    const { resource } = guard();
    assertThrows(() => resource.demand(undefined, "a"), InvalidRequestError, "More scope is needed: a");
    assertThrows(() => resource.demand(undefined, "two words"), TypeError, "Cannot use the scope");
    resource.demand({ principal: "ada", scopes: ["a"] }, "a");
    resource.demand({ principal: "ada" });
  });
});

async function bodyOf(request: Request): Promise<{ params: { _meta: Record<string, string> } }> {
  return await request.json();
}
