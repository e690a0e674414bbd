/** Whose metadata is fetched: an issuer is an origin and a path, and nothing of it is dropped to make it one. */
import { test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { fetchMetadata } from "../../src/auth/discovery/metadata.ts";
import { createGuardedFetch } from "../../src/egress/guarded_fetch.ts";
import { AuthorizationError } from "../../src/protocol/errors.ts";

function network() {
  const asked: string[] = [];
  const fetch = createGuardedFetch({
    operator: "https://mcp.example/mcp",
    fetch: (url) => {
      asked.push(url);
      return Promise.resolve(new Response(null, { status: 404 }));
    },
  });
  return { asked, fetch };
}

test("an issuer with a user name, a query or a fragment, or inside another address, is asked for nothing", async () => {
  for (
    const issuer of [
      "https://user:hunter22@as.example/a",
      "https://user@as.example",
      "https://as.example/a?tenant=hunter22",
      "https://as.example/#hunter22",
      "blob:https://as.example/a",
      "data:text/plain,as.example",
    ]
  ) {
    const { asked, fetch } = network();
    const error = await assertRejects(() => fetchMetadata(issuer, fetch), AuthorizationError, "a path alone", issuer);
    assert(!error.message.includes("hunter22"), error.message);
    assertEquals(asked, []);
  }
});

test("one with a path, a port, or a slash at its end is asked at the places that the specification names", async () => {
  const places: Record<string, readonly string[]> = {
    "https://as.example": ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"],
    "https://as.example/": ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"],
    "https://as.example:8443/t/1": [
      "/.well-known/oauth-authorization-server/t/1",
      "/.well-known/openid-configuration/t/1",
      "/t/1/.well-known/openid-configuration",
    ],
  };
  for (const [issuer, paths] of Object.entries(places)) {
    const { asked, fetch } = network();
    await assertRejects(() => fetchMetadata(issuer, fetch), AuthorizationError, "no document names this issuer");
    assertEquals(asked, paths.map((path) => new URL(issuer).origin + path));
  }
});
