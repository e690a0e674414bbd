/**
 * What an authorization server says of itself, and where.
 *
 * @module
 */
import type { Json } from "../jwt.ts";
import type { ServerKnobs } from "./knobs.ts";

/** Its document. */
export function describeServer(issuer: string, knobs: ServerKnobs): Json {
  const base = issuer.replace(/\/$/, "");
  return {
    issuer,
    authorization_endpoint: `${base}/authorize`,
    token_endpoint: `${base}/token`,
    registration_endpoint: knobs.registration ? `${base}/register` : undefined,
    revocation_endpoint: knobs.revocation ? `${base}/revoke` : undefined,
    device_authorization_endpoint: knobs.device ? `${base}/device` : undefined,
    jwks_uri: `${base}/keys`,
    scopes_supported: knobs.scopes,
    response_types_supported: ["code"],
    grant_types_supported: knobs.grantTypes,
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: knobs.authMethods,
    token_endpoint_auth_signing_alg_values_supported: ["ES256", "RS256", "PS256", "Ed25519"],
    authorization_response_iss_parameter_supported: knobs.iss === "absent" ? undefined : true,
    client_id_metadata_document_supported: knobs.clientDocuments ? true : undefined,
    dpop_signing_alg_values_supported: knobs.dpop === "off" ? undefined : ["ES256", "RS256", "PS256", "Ed25519"],
    ...knobs.metadata,
  };
}

/** The paths under which the document stands. */
export function metadataPaths(issuer: string, { places }: ServerKnobs): string[] {
  const path = new URL(issuer).pathname.replace(/\/$/, "");
  const oauth = "/.well-known/oauth-authorization-server";
  const openid = "/.well-known/openid-configuration";
  return [
    ...(places.oauth ? [oauth + path] : []),
    ...(places.openid ? [openid + path] : []),
    ...(places.openidAppended ? [path + openid] : []),
    ...(places.root ? [oauth] : []),
  ];
}
