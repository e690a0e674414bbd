/**
 * Our own protected servers behind the real authorization server, on a free port of this machine: `/signed/mcp` verifies tokens by
 * their signature, `/opaque/mcp` asks for each, `/bound/mcp` takes those alone that come with a proof of their key.
 *
 * @module
 */
import { serveHttp } from "../../../src/entry/local.ts";
import { createIntrospectionVerifier, createJwtVerifier } from "../../../src/auth/mod.ts";
import { systemClock, type VerifyToken } from "../../../src/ports.ts";
import { createHandler, McpServer, protectResource } from "../../../src/server/mod.ts";
import { ProofJudge } from "../world/dpop.ts";
import { isJson, isSignedBy, type Json, readJwt } from "../world/jwt.ts";

/** The client that the opaque resource introspects as: the provider has to know it. */
export const introspector: Readonly<Record<"client_id" | "client_secret", string>> & Json = {
  client_id: "resource",
  client_secret: "the secret of the resource",
  redirect_uris: [],
  response_types: [],
  grant_types: [],
};

/** The resources, by what their tokens are. */
export interface StartedResources extends AsyncDisposable {
  readonly signed: string;
  readonly opaque: string;
  readonly bound: string;
}

type Handle = (request: Request) => Response | Promise<Response>;

/** Serves them. */
export async function startResources(issuer: string): Promise<StartedResources> {
  const routes = new Map<string, Handle>();
  const host = await serveHttp((request) => {
    const name = /\/(signed|opaque|bound)\/mcp$/.exec(new URL(request.url).pathname)?.[1] ?? "";
    return routes.get(name)?.(request) ?? new Response(null, { status: 404 });
  }, { port: 0 });
  const url = (name: string) => `${host.url}/${name}/mcp`;
  routes.set("signed", createProtected(url("signed"), issuer, createJwtVerifier({ issuer })));
  const { client_id: clientId, client_secret: clientSecret } = introspector;
  const endpoint = `${issuer}/token/introspection`;
  const introspect = createIntrospectionVerifier({ issuer, endpoint, clientId, clientSecret });
  routes.set("opaque", createProtected(url("opaque"), issuer, introspect));
  routes.set("bound", createBound(url("bound"), issuer));
  return {
    signed: url("signed"),
    opaque: url("opaque"),
    bound: url("bound"),
    [Symbol.asyncDispose]: () => host.close(),
  };
}

/** A server of ours with one tool for everybody, and one that needs more scope. */
function createProtected(resource: string, issuer: string, verify: VerifyToken): Handle {
  const protection = protectResource({ resource, authorizationServers: [issuer], verify, requiredScopes: ["mcp:use"] });
  const server = new McpServer({ name: "protected", version: "1.0.0" });
  server.tool("whoami", {}, (_args, { auth }) => auth?.principal ?? "nobody");
  server.tool("write", {}, (_args, { auth }) => {
    protection.demand(auth, "files:write");
    return "written";
  });
  return createHandler(server, { auth: protection });
}

/** A server behind a guard of tokens that are bound to keys (RFC 9449), which is the tests' own. */
function createBound(resource: string, issuer: string): Handle {
  const proofs = new ProofJudge(systemClock);
  const metadataUrl = new URL("/.well-known/oauth-protected-resource/bound/mcp", resource).href;
  const server = new McpServer({ name: "bound", version: "1.0.0" });
  server.tool("whoami", {}, () => "who holds the key");
  const handler = createHandler(server);
  const refuse = (error: string) => {
    const challenge = `DPoP error="${error}", algs="ES256", resource_metadata="${metadataUrl}"`;
    return new Response(null, { status: 401, headers: { "www-authenticate": challenge } });
  };
  return async (request) => {
    const { method, headers } = request;
    const url = new URL(request.url);
    if (url.href === metadataUrl) {
      const document = { resource, authorization_servers: [issuer], scopes_supported: ["mcp:use"] };
      return Response.json({ ...document, dpop_bound_access_tokens_required: true });
    }
    const token = /^DPoP (\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
    const claims = token === undefined ? undefined : await readClaims(token, issuer);
    if (token === undefined || claims?.aud !== resource) return refuse("invalid_token");
    const judged = await proofs.judge({ method, url, headers }, token);
    if ("code" in judged) return refuse(judged.code);
    return isJson(claims.cnf) && claims.cnf.jkt === judged.jkt ? await handler(request) : refuse("invalid_token");
  };
}

/** What a signed token of the server says; undefined: it is not good. */
async function readClaims(token: string, issuer: string): Promise<Json | undefined> {
  const read = readJwt(token);
  const keys: unknown = await (await fetch(`${issuer}/jwks`)).json();
  const [key] = isJson(keys) && Array.isArray(keys.keys) ? keys.keys.filter(isJson) : [];
  if (!read || !key || !await isSignedBy(read, key)) return undefined;
  const { iss, exp } = read.payload;
  return iss === issuer && typeof exp === "number" && exp * 1_000 > Date.now() ? read.payload : undefined;
}
