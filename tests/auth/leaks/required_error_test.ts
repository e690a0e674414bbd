import { test } from "node:test";
import { assertEquals, assertInstanceOf } from "@std/assert";
import { AuthorizationRequiredError, McpError } from "../../../mod.ts";
import { createCanary } from "./canary.ts";

test("where a person has to sign in can be read, and is shown nowhere: it holds the state", () => {
  const secret = "state-0123456789-abcdef";
  const authorizationUrl = `https://as.test/authorize?state=${secret}`;
  const pending = {
    id: "1",
    server: "https://mcp.test/mcp",
    issuer: "https://as.test",
    scopes: ["read"],
    expiresAt: 1_000,
  };
  const error = new AuthorizationRequiredError("A person has to sign in", { authorizationUrl, pending, server: "s" });
  assertInstanceOf(error, McpError);
  assertEquals([error.authorizationUrl, error.pending, error.server], [authorizationUrl, pending, "s"]);
  assertEquals([error.name, error.delivery, error.retryable], ["AuthorizationRequiredError", "not-sent", false]);
  const canary = createCanary({ secret });
  canary.error("error", error);
  canary.error("wrapped", new Error("wrapped", { cause: error }));
  assertEquals(canary.leaks, []);
  assertEquals(JSON.parse(JSON.stringify(error)).pending, pending);
});
