/**
 * The ways to credentials, each as a table row: what is used, which secrets have to be met on the way, which endpoints are asked.
 *
 * @module
 */
import {
  bearerAuth,
  clientCredentials,
  createDpop,
  createOAuth,
  deviceCode,
  enterpriseAuthorization,
  headerAuth,
  privateKeyJwt,
  workloadIdentity,
} from "../../../src/auth/mod.ts";
import type { Authorizer } from "../../../src/ports.ts";
import { createSigner } from "../world/jwt.ts";
import { issuer, redirectUri, type WorldOptions } from "../world/world.ts";
import type { Rig } from "./oauth_rig.ts";

/** One of them. */
export interface Flow {
  readonly world?: WorldOptions;
  /** The kinds of secrets that are met where all goes well. */
  readonly kinds: readonly string[];
  /** The endpoints that are asked, by the ends of their paths. */
  readonly endpoints: readonly string[];
  /** What is given to `connect`. */
  make(rig: Rig): Authorizer | Promise<Authorizer>;
}

const jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const clientSecret = 'Cl1ent+Secret/0123456789=abc"d~é';
const metadata = ["/oauth-protected-resource/mcp", "/oauth-authorization-server"];
const person = ["access token", "refresh token", "authorization code", "PKCE verifier", "state", "session binding"];
/** Who has a credential of another kind needs no token. */
const open: WorldOptions = { resource: { protects: () => false } };
const everywhere = [...metadata, "/mcp", "/register", "/token", "/revoke"];

/** All of them. */
export const flows: Readonly<Record<string, Flow>> = {
  "code flow": {
    kinds: [...person],
    endpoints: everywhere,
    make: ({ usual }) => createOAuth(usual),
  },
  "code flow with a secret": {
    kinds: [...person, "client secret", "client credentials"],
    endpoints: ["/token", "/revoke"],
    make({ world, usual }) {
      world.server.clients.add({ id: "editor", secret: clientSecret, redirectUris: [redirectUri] });
      return createOAuth({ ...usual, client: { clientId: "editor", clientSecret } });
    },
  },
  "code flow, registered with a secret in the body": {
    world: { server: { authMethods: ["client_secret_post"] } },
    kinds: [...person, "client secret"],
    endpoints: ["/register", "/token"],
    make: ({ usual }) => createOAuth(usual),
  },
  "code flow, by an older wire with sessions": {
    world: { eras: ["legacy"] },
    kinds: [...person],
    endpoints: ["/mcp"],
    make: ({ usual }) => createOAuth(usual),
  },
  "DPoP with nonces": {
    kinds: [...person, "private key"],
    endpoints: ["/mcp", "/token"],
    make({ world, usual }) {
      Object.assign(world.server.proofs, { nonce: "nonce-of-the-server" });
      Object.assign(world.resource.proofs, { nonce: "nonce-of-the-resource" });
      return createOAuth({ ...usual, dpop: createDpop({ clock: world.clock }) });
    },
  },
  "device": {
    kinds: ["access token", "refresh token", "device code"],
    endpoints: ["/device", "/token"],
    make({ world, usual }) {
      const onCode = ({ userCode }: { readonly userCode: string }) => world.server.devices.decide(userCode, "approved");
      return createOAuth({ ...usual, grant: deviceCode({ onCode }) });
    },
  },
  "client credentials by a secret": {
    kinds: ["access token", "client secret", "client credentials"],
    endpoints: ["/token", "/revoke"],
    make({ world, usual }) {
      world.server.clients.add({ id: "robot", secret: clientSecret, grantTypes: ["client_credentials"] });
      return createOAuth({ ...usual, grant: clientCredentials({ clientId: "robot", clientSecret }) });
    },
  },
  "client credentials by a key": {
    kinds: ["access token", "client assertion", "private key"],
    endpoints: ["/token"],
    async make({ world, usual, learn }) {
      const key = await createKey();
      learn("private key", key.d ?? "");
      world.server.clients.add({ id: "signer", keys: [withoutSecret(key)], grantTypes: ["client_credentials"] });
      const authenticate = privateKeyJwt({ ...key }, { algorithm: "ES256", clock: world.clock });
      return createOAuth({ ...usual, grant: clientCredentials({ clientId: "signer", authenticate }) });
    },
  },
  "workload identity": {
    kinds: ["access token", "ID-JAG or assertion"],
    endpoints: ["/token"],
    async make({ world, usual }) {
      const key = await createSigner();
      const platform = "https://platform.example.com";
      world.server.trusted.set(platform, [key.jwk]);
      world.server.clients.add({ id: "workload", grantTypes: [jwtBearer] });
      const exp = Math.floor(world.clock.now() / 1_000) + 3_600;
      const assertion = ({ audience }: { readonly audience: string }) =>
        key.sign({ iss: platform, sub: "workload", aud: audience, exp });
      return createOAuth({ ...usual, grant: workloadIdentity({ clientId: "workload", issuer, assertion }) });
    },
  },
  "enterprise": {
    kinds: ["access token", "subject token", "ID-JAG or assertion", "client secret", "client credentials"],
    endpoints: ["https://login.example.org/token", `${issuer}/token`],
    make: makeEnterprise,
  },
  "bearerAuth": {
    world: open,
    kinds: ["access token"],
    endpoints: ["/mcp"],
    make: () => bearerAuth("given/Token+of.the~operator-0123456789=="),
  },
  "headerAuth": {
    world: open,
    kinds: ["API key"],
    endpoints: ["/mcp"],
    make: () => headerAuth("X-API-Key", "given/Key+of.the~operator-0123456789=="),
  },
};

async function makeEnterprise({ world, usual }: Rig): Promise<Authorizer> {
  const idp = await world.addServer("https://login.example.org", { needsResource: false });
  const somebody = await createSigner();
  idp.trusted.set(idp.issuer, [somebody.jwk]);
  const exchange = "urn:ietf:params:oauth:grant-type:token-exchange";
  idp.clients.add({ id: "at-login", secret: `login-${clientSecret}`, grantTypes: [exchange] });
  idp.clientIdsElsewhere.set("at-login", "assistant");
  world.server.trusted.set(idp.issuer, [(await idp.signer()).jwk]);
  world.server.clients.add({ id: "assistant", secret: clientSecret, grantTypes: [jwtBearer] });
  const exp = Math.floor(world.clock.now() / 1_000) + 3_600;
  const idToken = await somebody.sign({ iss: idp.issuer, sub: "ada", aud: "at-login", exp });
  const identityProvider = { issuer: idp.issuer, clientId: "at-login", clientSecret: `login-${clientSecret}` };
  const grant = enterpriseAuthorization({ clientId: "assistant", clientSecret, identityProvider, idToken });
  return createOAuth({ ...usual, grant });
}

async function createKey(): Promise<JsonWebKey> {
  const pair = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
  if (!("privateKey" in pair)) throw new TypeError("a pair was asked for");
  const { kty, crv, x, y, d } = await crypto.subtle.exportKey("jwk", pair.privateKey);
  return { kty, crv, x, y, d } as JsonWebKey; // the members of an EC key
}

function withoutSecret({ kty, crv, x, y }: JsonWebKey): JsonWebKey {
  return { kty, crv, x, y } as JsonWebKey; // the same without `d`
}
