// A real authorization server (`oidc-provider`) on a free port of this machine, for the tests of signing in. Plain JavaScript,
// run by Node, Bun or Deno:
//
//   provider.mjs '{"clients": [], "lifetime": 60, "nonces": false}'
//
// It writes `LISTENING <port>`, and ends when its standard input ends. Tokens for a resource whose path begins with /opaque
// are opaque, all others are signed. Its pages are its own: any name signs in, and every question is answered by a form.
import { Provider } from "oidc-provider";
import { createServer } from "node:http";
import process from "node:process";

const { clients = [], lifetime = 60, nonces = false } = JSON.parse(process.argv[2] ?? "{}");
const scopes = ["mcp:use", "files:read", "files:write"];

async function createKeys() {
  const pair = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
  const { kty, crv, x, y, d } = await crypto.subtle.exportKey("jwk", pair.privateKey);
  return { keys: [{ kty, crv, x, y, d, alg: "ES256", use: "sig", kid: "one" }] };
}

function describeResource(_context, resource) {
  const { hostname, pathname } = new URL(resource);
  if (hostname !== "127.0.0.1") throw new Error(`no resource: ${resource}`);
  const isOpaque = pathname.startsWith("/opaque");
  return {
    scope: scopes.join(" "),
    audience: resource,
    accessTokenTTL: lifetime,
    accessTokenFormat: isOpaque ? "opaque" : "jwt",
    ...(isOpaque ? {} : { jwt: { sign: { alg: "ES256" } } }),
  };
}

function configure(jwks) {
  return {
    clients,
    jwks,
    clientDefaults: { id_token_signed_response_alg: "ES256" },
    scopes: ["openid", "offline_access", ...scopes],
    cookies: { keys: ["a key of the tests"] },
    clientAuthMethods: ["none", "client_secret_basic", "client_secret_post", "private_key_jwt"],
    enabledJWA: { clientAuthSigningAlgValues: ["ES256"], dPoPSigningAlgValues: ["ES256", "Ed25519"] },
    pkce: { required: () => true },
    rotateRefreshToken: true,
    issueRefreshToken: (_context, client) => client.grantTypeAllowed("refresh_token"),
    ttl: { AccessToken: lifetime, ClientCredentials: lifetime, DeviceCode: 60, RefreshToken: 3_600, Grant: 3_600 },
    features: {
      clientCredentials: { enabled: true },
      deviceFlow: { enabled: true },
      devInteractions: { enabled: true },
      dPoP: { enabled: true, nonceSecret: Buffer.alloc(32, 7), requireNonce: () => nonces },
      introspection: { enabled: true },
      registration: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => undefined,
        getResourceServerInfo: describeResource,
        useGrantedResource: () => true,
      },
    },
  };
}

const jwks = await createKeys();
// Five seconds of silence, which a busy machine makes, close no connection that is about to be used.
const server = createServer({ keepAliveTimeout: 120_000 });
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address();
  const provider = new Provider(`http://127.0.0.1:${port}`, configure(jwks));
  provider.on("server_error", (_context, error) => console.error(error));
  server.on("request", provider.callback());
  console.log(`LISTENING ${port}`);
});
process.stdin.on("end", () => process.exit(0)).resume();
