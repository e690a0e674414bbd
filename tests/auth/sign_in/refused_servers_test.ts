/** Servers that must not be signed in to: nothing secret reaches them, and the error says what is wrong with them. */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { describe, test } from "node:test";
import { McpError } from "../../../src/protocol/errors.ts";
import { answerJson, endless, type Fault, huge, notJson, redirect, refusal } from "../world/faults.ts";
import { issuer, resourceUrl, type WorldOptions } from "../world/world.ts";
import { createParty } from "./parties.ts";

interface Refused extends WorldOptions {
  /** What the error says. */
  readonly says: string;
  /** Whether a person was sent to the server before. */
  readonly isVisited?: boolean;
  readonly faults?: Readonly<Record<string, Fault>>;
}

const evil = "https://evil.example.com";
const nowhere = { oauth: false, openid: false, openidAppended: false, root: false };
const metadata = `${issuer}/.well-known/oauth-authorization-server`;

const cases: Readonly<Record<string, Refused>> = {
  "metadata of another issuer": { server: { metadata: { issuer: evil } }, says: "no document names this issuer" },
  "metadata of an issuer with one more slash": {
    server: { metadata: { issuer: `${issuer}/` } },
    says: "no document names this issuer",
  },
  "metadata of an issuer with a path at the root": {
    issuer: `${issuer}/tenant`,
    server: { places: { ...nowhere, root: true } },
    says: "no document names this issuer",
  },
  "no PKCE": { server: { metadata: { code_challenge_methods_supported: undefined } }, says: '"S256"' },
  "plain PKCE": { server: { metadata: { code_challenge_methods_supported: ["plain"] } }, says: '"S256"' },
  "no metadata of the resource": {
    resource: { places: { header: false, path: false, root: false } },
    says: "no resource metadata",
  },
  "a resource at another host": { resource: { resource: `${evil}/mcp` }, says: `"${evil}/mcp"` },
  "a resource at another path": { resource: { resource: `${resourceUrl}/other` }, says: `"${resourceUrl}/other"` },
  "a resource whose path begins alike": {
    resource: { resource: "https://mcp.example.com/mc" },
    says: '"https://mcp.example.com/mc"',
  },
  "no authorization server": {
    resource: { metadata: { authorization_servers: [] } },
    says: '"authorization_servers" is []',
  },
  "an authorization server that is a file": {
    resource: { metadata: { authorization_servers: ["file:///etc/passwd"] } },
    says: "file:///etc/passwd",
  },
  "an authorization server in the cloud's own network": {
    resource: { metadata: { authorization_servers: ["https://169.254.169.254"] } },
    says: "169.254.169.254",
  },
  "an authorization endpoint that is a script": {
    server: { metadata: { authorization_endpoint: "javascript:alert(1)" } },
    says: '"javascript:"',
  },
  "a token endpoint without TLS": {
    server: { metadata: { token_endpoint: "http://auth.example.com/token" } },
    says: '"http:"',
  },
  "a token endpoint on this machine": {
    server: { metadata: { token_endpoint: "https://localhost/token" } },
    says: '"localhost"',
  },
  "a token endpoint that sends elsewhere": {
    faults: { "/token": redirect(`${evil}/token`) },
    says: "Cannot follow the redirect (307)",
    isVisited: true,
  },
  "no registration": { server: { registration: false }, says: "it takes no registrations" },
  "another name in the callback": { server: { iss: { wrong: evil } }, says: "is not from", isVisited: true },
  "another name in the callback, unannounced": {
    server: { iss: { wrong: evil }, metadata: { authorization_response_iss_parameter_supported: undefined } },
    says: "is not from",
    isVisited: true,
  },
  "no name in the callback, though announced": {
    server: { callback: { iss: undefined } },
    says: "is not from",
    isVisited: true,
  },
  "another state in the callback": {
    server: { callback: { state: "guessed" } },
    says: "nobody waits for this state",
    isVisited: true,
  },
  "a person who says no": {
    server: { authorizationError: { error: "access_denied" } },
    says: "access_denied",
    isVisited: true,
  },
  "tokens of another kind": { server: { tokenType: "mac" }, says: '"token_type"', isVisited: true },
  "a token that is a number": {
    server: { tokenReply: { access_token: 7 } },
    says: '"access_token"',
    isVisited: true,
  },
  "a token that breaks the line": {
    server: { tokenReply: { access_token: "a\r\nx-evil: 1" } },
    says: '"access_token"',
    isVisited: true,
  },
  "refusals that look like success": {
    faults: { "/token": refusal("invalid_grant", 200) },
    says: "invalid_grant",
    isVisited: true,
  },
  "a page for a token": { faults: { "/token": notJson }, says: "no JSON object", isVisited: true },
  "a token reply that never ends": { faults: { "/token": endless() }, says: "documentBytes", isVisited: true },
  "metadata that never ends": { faults: { [metadata]: endless() }, says: "documentBytes" },
  "metadata that is too long": { faults: { [metadata]: huge(2_000_000) }, says: "documentBytes" },
  "metadata that is a list": { faults: { [metadata]: answerJson([]) }, says: "no document names this issuer" },
};

describe("signing in is refused with", () => {
  for (const [name, { says, isVisited = false, faults = {}, ...worldOptions }] of Object.entries(cases)) {
    test(name, async () => {
      const { world, oauth, open } = await createParty({}, worldOptions);
      for (const [which, fault] of Object.entries(faults)) world.fault(which, fault);
      const error = await assertRejects(() => open(), McpError);
      assertStringIncludes(error.message, says);
      assertEquals(world.person.visits.length, isVisited ? 1 : 0);
      assertEquals([world.resource.admitted, await oauth.status(resourceUrl)], [0, undefined]);
      const text = `${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`;
      assert(!world.secrets.some((secret) => text.includes(secret)), text);
      const strangers = world.log.all.filter(({ url }) => !/^(auth|mcp)\.example\.com$/.test(url.host));
      assertEquals(strangers.map(({ url }) => url.href), []);
    });
  }
});
