/** A protected server and its authorization server on real sockets: every fetch is the runtime's own. */
import { describe, test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import { createJwtVerifier } from "../../../src/auth/mod.ts";
import { connect, serveHttp, UnauthorizedError } from "../../../src/entry/local.ts";
import { createHandler, McpServer, protectResource } from "../../../src/server/mod.ts";
import { createKey, sign } from "../../auth/verify/authorization_server.ts";

describe("a protected server on sockets", () => {
  test("a client finds the metadata, and is served with a token of the server that it names", async () => {
    const key = await createKey("one");
    const asked: string[] = [];
    let issuer = "";
    await using issuing = await serveHttp((request) => {
      const { pathname } = new URL(request.url);
      asked.push(pathname);
      if (pathname === "/keys") return Response.json({ keys: [key.jwk] });
      const isMetadata = pathname === "/.well-known/oauth-authorization-server";
      return isMetadata ? Response.json({ issuer, jwks_uri: `${issuer}/keys` }) : new Response(null, { status: 404 });
    }, { port: 0 });
    issuer = issuing.url;

    const mcp = new McpServer({ name: "private", version: "1.0.0" });
    mcp.tool("whoami", {}, (_args, { auth }) => auth?.principal ?? "nobody");
    // The port is known once it listens.
    let answer: (request: Request) => Promise<Response> = () => Promise.reject(new Error("not yet"));
    await using serving = await serveHttp((request) => answer(request), { port: 0 });
    const url = `${serving.url}/mcp`;
    const auth = protectResource({
      resource: url,
      authorizationServers: [issuer],
      verify: createJwtVerifier({ issuer }),
    });
    const handler = createHandler(mcp, { auth });
    answer = handler;

    const { challenge } = await assertRejects(() => connect(url), UnauthorizedError);
    const place = /resource_metadata="([^"]+)"/.exec(challenge)?.[1] ?? "";
    const metadata = await (await fetch(place)).json();
    assertEquals([metadata.resource, metadata.authorization_servers], [url, [issuer]]);

    const now = Math.floor(Date.now() / 1_000);
    const claims = { iss: issuer, aud: url, iat: now, exp: now + 300 };
    const headers = { authorization: `Bearer ${await sign(key, claims)}` };
    for (const era of ["modern", "legacy"] as const) {
      const verdict = era === "legacy" ? { verdict: { era, revision: "2025-11-25" as const } } : {};
      await using client = await connect(url, { headers, ...verdict });
      const { content: [first] } = await client.callTool("whoami");
      assertEquals(first?.type === "text" && first.text, `${issuer}#ada`);
    }
    assertEquals(asked, ["/.well-known/oauth-authorization-server", "/keys"]);

    const expired = { authorization: `Bearer ${await sign(key, { ...claims, exp: now - 60 })}` };
    const error = await assertRejects(() => connect(url, { headers: expired }), UnauthorizedError);
    assertEquals(error.challenge.includes('error="invalid_token"'), true);
    handler.close();
  });
});
