/**
 * Registers clients (RFC 7591).
 *
 * @module
 */
import type { Clock } from "../../../../src/ports.ts";
import { isJson, type Json } from "../jwt.ts";
import type { SeenRequest } from "../request_log.ts";
import { type Clients, texts } from "./clients.ts";
import { unguessable } from "./issued.ts";
import type { RegistrationKnobs } from "./knobs.ts";
import { Refusal } from "./refusal.ts";
import { readUrl } from "../../../../src/egress/url.ts";

/** Registers the client that a request tells of. @throws {Refusal} When it says something that cannot be. */
export function register(seen: SeenRequest, clients: Clients, knobs: RegistrationKnobs, clock: Clock): Response {
  const asked = readBody(seen);
  const redirectUris = texts(asked.redirect_uris);
  const grantTypes = asked.grant_types === undefined ? ["authorization_code"] : texts(asked.grant_types);
  const responseTypes = asked.response_types === undefined ? ["code"] : texts(asked.response_types);
  if (responseTypes.includes("code") !== grantTypes.includes("authorization_code")) {
    throw new Refusal("invalid_client_metadata", "response_types and grant_types do not go together");
  }
  if (responseTypes.length && !redirectUris.length) {
    throw new Refusal("invalid_redirect_uri", "redirect_uris is missing");
  }
  const twice = grantTypes.find((type, index) => grantTypes.indexOf(type) !== index);
  if (twice !== undefined) throw new Refusal("invalid_client_metadata", `${twice} is there twice`);
  for (const uri of redirectUris) checkRedirectUri(uri, asked.application_type, knobs);
  const wanted = asked.token_endpoint_auth_method ?? "client_secret_basic";
  const authMethod = knobs.authMethod ?? (typeof wanted === "string" ? wanted : "none");
  const hasSecret = authMethod.startsWith("client_secret_");
  const secret = hasSecret ? unguessable("secret") : undefined;
  const ends = knobs.secretLifetime && clock.now() + knobs.secretLifetime * 1_000;
  const keys = isJson(asked.jwks) && Array.isArray(asked.jwks.keys) ? asked.jwks.keys.filter(isJson) : undefined;
  const { id } = clients.add({
    id: unguessable("client"),
    secret,
    secretExpiresAt: hasSecret && ends ? ends : undefined,
    authMethod,
    redirectUris,
    grantTypes,
    keys,
    metadata: asked,
  });
  const told = hasSecret ? { client_secret: secret, client_secret_expires_at: Math.floor(ends / 1_000) } : {};
  const registered = { ...asked, client_id: id, grant_types: grantTypes, token_endpoint_auth_method: authMethod };
  return Response.json({ ...registered, ...told, ...knobs.reply }, { status: 201 });
}

function readBody({ headers, body }: SeenRequest): Json {
  if (!headers.get("content-type")?.startsWith("application/json")) {
    throw new Refusal("invalid_client_metadata", "it is no JSON");
  }
  const value: unknown = JSON.parse(body);
  if (isJson(value)) return value;
  throw new Refusal("invalid_client_metadata", "it is no object");
}

function checkRedirectUri(uri: string, applicationType: unknown, knobs: RegistrationKnobs): void {
  const url = readUrl(uri);
  if (!url || url.hash !== "" || knobs.refuses(uri)) throw new Refusal("invalid_redirect_uri", `"${uri}" is not taken`);
  const isLocal = ["127.0.0.1", "[::1]", "localhost"].includes(url.hostname);
  if (url.protocol === "http:" && !isLocal) throw new Refusal("invalid_redirect_uri", `"${uri}" is not safe`);
  if (!knobs.checksApplicationType) return;
  const isNative = url.protocol !== "https:";
  if (isNative !== (applicationType === "native")) {
    throw new Refusal("invalid_redirect_uri", `"${uri}" does not go with application_type ${String(applicationType)}`);
  }
}
