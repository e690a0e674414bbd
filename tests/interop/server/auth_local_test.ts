/** The official client signs in at our protected server: metadata, token for this resource, and more scope for one tool. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, test } from "node:test";
import { createJwtVerifier } from "../../../src/auth/mod.ts";
import { createHandler, McpServer, protectResource } from "../../../src/server/mod.ts";
import { AuthorizationServer, createKey, issuer, sign } from "../../auth/verify/authorization_server.ts";
import { heldRequest } from "../../support/held_request.ts";
import { loadSdk, skipSdk } from "./official.ts";
import type { SdkClient } from "./official.ts";

const resourceUrl = "http://localhost:3000/mcp";

/** A transport of the official client, as far as it is used. */
interface Transport {
  finishAuth(code: string, iss?: string): Promise<void>;
}

/** What the official client keeps, and where it sends the user. */
class Provider {
  readonly redirectUrl = "http://localhost:4000/callback";
  readonly clientMetadata = { client_name: "official", redirect_uris: [this.redirectUrl] };
  readonly sentTo: URL[] = [];
  #kept: Record<string, unknown> = {};
  clientInformation = (): unknown => this.#kept.client;
  saveClientInformation = (client: unknown): void => void (this.#kept.client = client);
  tokens = (): unknown => this.#kept.tokens;
  saveTokens = (tokens: unknown): void => void (this.#kept.tokens = tokens);
  codeVerifier = (): string => String(this.#kept.verifier);
  saveCodeVerifier = (verifier: string): void => void (this.#kept.verifier = verifier);
  redirectToAuthorization = (url: URL): void => void this.sentTo.push(url);
}

/** Makes the authorization server: whoever is sent to it agrees, and each token says what was asked for. */
async function createServers() {
  const key = await createKey("one");
  const server = new AuthorizationServer(key);
  const provider = new Provider();
  server.setMetadata({
    issuer,
    jwks_uri: `${issuer}/keys`,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    registration_endpoint: `${issuer}/register`,
    response_types_supported: ["code"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["none"],
  });
  server.documents.set(
    `${issuer}/register`,
    () => Response.json({ ...provider.clientMetadata, client_id: "registered" }),
  );
  server.documents.set(`${issuer}/token`, async () => {
    const asked = new URLSearchParams(server.bodies.at(-1));
    const scope = provider.sentTo.at(-1)?.searchParams.get("scope") ?? "";
    const now = Math.floor(Date.now() / 1_000);
    const token = await sign(key, { aud: asked.get("resource"), scope, iat: now, exp: now + 300 });
    return Response.json({ access_token: token, token_type: "Bearer", expires_in: 300, scope });
  });
  const resource = protectResource({
    resource: resourceUrl,
    authorizationServers: [issuer],
    requiredScopes: ["mcp:use"],
    verify: createJwtVerifier({ issuer, fetch: server.fetch }),
  });
  const mcp = new McpServer({ name: "private", version: "1.0.0" });
  mcp.tool("whoami", {}, (_args, { auth }) => `${auth?.principal} by ${auth?.clientId}`);
  mcp.tool("write", {}, (_args, { auth }) => {
    resource.demand(auth, "files:write");
    return "written";
  });
  const handler = createHandler(mcp, { auth: resource });
  const fetch = (url: string | URL, init: RequestInit = {}): Promise<Response> =>
    String(url).startsWith(issuer) ? server.fetch(String(url), init) : handler(heldRequest(String(url), init));
  return { provider, server, fetch };
}

describe("the official client at a protected server", () => {
  for (const mode of ["auto", "legacy"]) {
    test(`signs in, and asks for more where a tool needs it (${mode})`, { skip: skipSdk }, async () => {
      const { provider, server, fetch } = await createServers();
      const sdk = await loadSdk() as unknown as {
        Client: new (info: object, options: object) => SdkClient;
        StreamableHTTPClientTransport: new (url: URL, options: object) => Transport;
      };
      const open = () => new sdk.StreamableHTTPClientTransport(new URL(resourceUrl), { authProvider: provider, fetch });
      const create = () => new sdk.Client({ name: "official", version: "2.4.0" }, { versionNegotiation: { mode } });

      const first = open();
      await assertRejects(() => create().connect(first));
      const [asked] = provider.sentTo;
      assertEquals(asked?.origin, issuer);
      assertEquals(asked?.searchParams.get("resource"), resourceUrl);
      assertEquals(asked?.searchParams.get("scope"), "mcp:use");
      await first.finishAuth("a code", issuer);
      assertEquals(
        new URLSearchParams(server.bodies.find((body) => body.includes("a+code"))).get("resource"),
        resourceUrl,
      );

      const transport = open();
      const client = create();
      await client.connect(transport);
      const who = await client.callTool({ name: "whoami", arguments: {} });
      assertEquals(who.content[0]?.text, `${issuer}#ada by editor`);

      await assertRejects(() => client.callTool({ name: "write", arguments: {} }));
      assertEquals(provider.sentTo.length, 2);
      const scopes = provider.sentTo[1]?.searchParams.get("scope")?.split(" ") ?? [];
      assert(scopes.includes("files:write") && scopes.includes("mcp:use"), scopes.join());
      await transport.finishAuth("another code", issuer);
      const written = await client.callTool({ name: "write", arguments: {} });
      assertEquals(written.content[0]?.text, "written");
      await client.close();
    });
  }
});
