/**
 * The grants: each says what tokens are given for, or why not.
 *
 * @module
 */
import type { Clock } from "../../../../src/ports.ts";
import { isSignedBy, type Json, readJwt, sha256, type Signer } from "../jwt.ts";
import { readResource, readScopes } from "./authorize.ts";
import type { KnownClient } from "./clients.ts";
import type { Devices } from "./device.ts";
import type { Grounds, Issued, IssuedToken } from "./issued.ts";
import type { ServerKnobs } from "./knobs.ts";
import { need, Refusal, scopesOf } from "./refusal.ts";

/** What grants use of their server. */
export interface GrantingServer {
  readonly issuer: string;
  readonly clock: Clock;
  readonly knobs: ServerKnobs;
  readonly issued: Issued;
  readonly devices: Devices;
  signer(): Promise<Signer>;
  /** Keys of others whose assertions are taken, by issuer. */
  readonly trusted: ReadonlyMap<string, readonly JsonWebKey[]>;
  /** As what clients are known at the servers that assertions are for, by the id that they have here. */
  readonly clientIdsElsewhere: ReadonlyMap<string, string>;
}

/** Who asks, and with what. */
export interface Asking {
  readonly server: GrantingServer;
  readonly client: KnownClient;
  readonly form: URLSearchParams;
  /** The thumbprint of the key that was proved. */
  readonly jkt: string | undefined;
}

/** What is given: tokens for these grounds, together with a refresh token or not; or an answer of its own. */
export type Given = { readonly grounds: Grounds; readonly refresh: "new" | "none" | IssuedToken } | {
  readonly reply: Json;
};

const prefix = "urn:ietf:params:oauth:grant-type:";
const idJag = "urn:ietf:params:oauth:token-type:id-jag";

/** The grants by their type. */
export const grants: Readonly<Record<string, (asking: Asking) => Given | Promise<Given>>> = {
  authorization_code: exchangeCode,
  refresh_token: refresh,
  client_credentials: (asking) => ({ grounds: newGrounds(asking, asking.client.id), refresh: "none" }),
  [`${prefix}jwt-bearer`]: takeAssertion,
  [`${prefix}token-exchange`]: exchangeToken,
  [`${prefix}device_code`]: ({ server, client, form, jkt }) => {
    const { device } = server.knobs;
    if (!device) throw new Refusal("unsupported_grant_type", "there are no devices here");
    return { grounds: { ...server.devices.poll(need(form, "device_code"), client.id, device), jkt }, refresh: "new" };
  },
};

async function exchangeCode({ server, client, form, jkt }: Asking): Promise<Given> {
  const { issued, knobs, clock } = server;
  const code = issued.codes.get(need(form, "code"));
  if (!code || code.clientId !== client.id) throw new Refusal("invalid_grant", "the code is not known");
  if (code.isUsed) {
    issued.revokeFamily(code.family);
    throw new Refusal("invalid_grant", "the code was used before");
  }
  code.isUsed = true;
  if (code.expiresAt <= clock.now()) throw new Refusal("invalid_grant", "the code has expired");
  if (need(form, "redirect_uri") !== code.redirectUri) throw new Refusal("invalid_grant", "another redirect_uri");
  const verifier = need(form, "code_verifier");
  if (!/^[A-Za-z0-9._~-]{43,128}$/.test(verifier) || await sha256(verifier) !== code.challenge) {
    throw new Refusal("invalid_grant", "the code verifier is another one");
  }
  if (readResource(form, knobs) !== code.resource) throw new Refusal("invalid_target", "the resource is another one");
  if (code.jkt !== undefined && code.jkt !== jkt) throw new Refusal("invalid_grant", "the code is bound to a key");
  const { clientId, subject, scopes, resource, family } = code;
  return { grounds: { clientId, subject, scopes, resource, family, jkt }, refresh: "new" };
}

function refresh({ server, client, form, jkt }: Asking): Given {
  const { issued, knobs } = server;
  const token = issued.refresh.get(need(form, "refresh_token"));
  if (!token || token.clientId !== client.id) throw new Refusal("invalid_grant", "the refresh token is not known");
  if (token.isUsed) {
    issued.revokeFamily(token.family);
    throw new Refusal("invalid_grant", "the refresh token was used before");
  }
  if (!issued.isGood(token)) throw new Refusal("invalid_grant", "the refresh token is not good any more");
  const isPublic = client.authMethod === "none";
  if (isPublic && token.jkt !== undefined && token.jkt !== jkt) {
    throw new Refusal("invalid_grant", "the refresh token is bound to a key");
  }
  if (readResource(form, knobs) !== token.resource) throw new Refusal("invalid_target", "the resource is another one");
  const asked = scopesOf(form);
  const wider = asked.find((scope) => !token.scopes.includes(scope));
  if (wider !== undefined) throw new Refusal("invalid_scope", `the scope ${wider} was not granted`);
  if (knobs.refresh !== "stays") token.isUsed = true;
  const { clientId, subject, resource, family } = token;
  const scopes = asked.length ? asked : token.scopes;
  const again = knobs.refresh === "stays" ? token : "new";
  return { grounds: { clientId, subject, scopes, resource, family, jkt }, refresh: again };
}

/** An assertion of somebody who is trusted (RFC 7523); an identity assertion has to name this very client. */
async function takeAssertion(asking: Asking): Promise<Given> {
  const { server, client, form } = asking;
  const payload = await checkJwt(need(form, "assertion"), server, server.issuer);
  const { sub, client_id: meantFor, resource, scope } = payload;
  if (meantFor !== undefined && meantFor !== client.id) throw new Refusal("invalid_grant", "meant for another client");
  if (resource !== undefined && resource !== (form.get("resource") ?? resource)) {
    throw new Refusal("invalid_target", "the resource is another one");
  }
  const grounds = newGrounds(asking, String(sub));
  const limits = typeof scope === "string" ? scope.split(" ") : grounds.scopes;
  return { grounds: { ...grounds, scopes: grounds.scopes.filter((name) => limits.includes(name)) }, refresh: "none" };
}

/** An exchange of one token for another (RFC 8693): for an identity assertion, or for an access token. */
async function exchangeToken(asking: Asking): Promise<Given> {
  const { server, client, form } = asking;
  need(form, "subject_token_type");
  const { sub } = await checkJwt(need(form, "subject_token"), server, client.id);
  if (form.get("requested_token_type") !== idJag) return { grounds: newGrounds(asking, String(sub)), refresh: "none" };
  const now = Math.floor(server.clock.now() / 1_000);
  const claims = {
    iss: server.issuer,
    sub,
    aud: need(form, "audience"),
    resource: form.get("resource") ?? undefined,
    client_id: server.clientIdsElsewhere.get(client.id) ?? client.id,
    scope: form.get("scope") ?? undefined,
    jti: server.issued.family(),
    iat: now,
    exp: now + 300,
  };
  const assertion = await (await server.signer()).sign(claims, { typ: "oauth-id-jag+jwt" });
  const scope = form.get("scope") ?? undefined;
  return {
    reply: { issued_token_type: idJag, access_token: assertion, token_type: "N_A", expires_in: 300, scope },
  };
}

function newGrounds({ server, client, form, jkt }: Asking, subject: string): Grounds {
  const { knobs, issued } = server;
  const family = issued.family();
  const [resource, scopes] = [readResource(form, knobs), readScopes(form, knobs)];
  return { clientId: client.id, subject, scopes, resource, family, jkt };
}

/** The claims of a JWT of somebody who is trusted. @throws {Refusal} When it is nobody's, meant for another, or too old. */
async function checkJwt(text: string, server: GrantingServer, audience: string): Promise<Json> {
  const read = readJwt(text);
  const keys = server.trusted.get(String(read?.payload.iss)) ?? [];
  const signed = read ? await Promise.all(keys.map((key) => isSignedBy(read, key))) : [];
  if (!read || !signed.includes(true)) throw new Refusal("invalid_grant", "the assertion is not trusted");
  const { aud, exp } = read.payload;
  if (![aud].flat().includes(audience)) throw new Refusal("invalid_grant", "the assertion is meant for another");
  if (typeof exp !== "number" || exp * 1_000 <= server.clock.now()) {
    throw new Refusal("invalid_grant", "the assertion has expired");
  }
  return read.payload;
}
