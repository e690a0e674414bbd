/**
 * From an MCP server to the authorization server that speaks for it (specification: Authorization Server Discovery; RFC 9728).
 *
 * @module
 */
import type { GuardedFetch } from "../../egress/guarded_fetch.ts";
import { excerpt } from "../../protocol/excerpt.ts";
import { AuthorizationError } from "../../protocol/errors.ts";
import { isTexts } from "../../protocol/json_rpc.ts";
import { fetchMetadata } from "../metadata.ts";
import { parseObject } from "../parse.ts";
import type { ServerMetadata } from "../seam.ts";
import type { OAuthContext } from "./context.ts";

/** What was found out. */
export interface Discovered {
  readonly metadata: ServerMetadata;
  /** The resource's own name for itself; a server of 2025-03-26 has none. */
  readonly resource: string | undefined;
  /** The scopes that the resource names. */
  readonly scopes: readonly string[];
}

/** Where to look. */
export interface DiscoveryOptions {
  /** Where the challenge says that the metadata of the resource is. */
  readonly metadataUrl?: string | undefined;
  /** The issuer that was used before: it is kept to while the resource names it. */
  readonly issuer?: string | undefined;
}

const wellKnown = "/.well-known/oauth-protected-resource";

/**
 * Finds the authorization server of an MCP server.
 *
 * @throws {AuthorizationError} When a document is missing, or says what it must not.
 * @throws {EgressDeniedError} When one leads where this client must not go.
 */
export async function discover(
  context: OAuthContext,
  server: string,
  options: DiscoveryOptions,
): Promise<Discovered> {
  const fetch = context.guarded(server);
  const document = await findResource(fetch, server, options.metadataUrl);
  if (!document) return await discoverLegacy(context, server, fetch);
  const { resource, authorization_servers: issuers, scopes_supported: scopes = [] } = document;
  const wrong = (field: string, expected: string) =>
    new AuthorizationError(
      `Cannot use the resource metadata of "${server}": "${field}" is ${shown(document[field])}, expected ${expected}`,
    );
  if (typeof resource !== "string" || !covers(resource, server)) throw wrong("resource", "the server's own URL");
  if (!isTexts(issuers) || !issuers.length || !issuers.every((issuer) => URL.canParse(issuer))) {
    throw wrong("authorization_servers", "a list of issuers");
  }
  if (!isTexts(scopes)) throw wrong("scopes_supported", "a list of texts");
  const known = context.clients.map(({ issuer }) => issuer);
  const [issuer = ""] = [
    ...issuers.filter((name) => known.includes(name)),
    ...issuers.filter((name) => name === options.issuer),
    ...issuers,
  ];
  const metadata = checkMetadata(await fetchMetadata(issuer, fetch));
  return { metadata, resource, scopes };
}

/** The metadata of the resource, from the places that the specification names, in their order. */
async function findResource(
  fetch: GuardedFetch,
  server: string,
  named: string | undefined,
): Promise<Record<string, unknown> | undefined> {
  const { origin, pathname } = new URL(server);
  const path = pathname.replace(/\/$/, "");
  const places = named === undefined ? [...new Set([path, ""])].map((end) => origin + wellKnown + end) : [named];
  for (const place of places) {
    const { status, text } = await fetch(place, { headers: { accept: "application/json" } });
    const document = status === 200 ? parseObject(text) : undefined;
    if (document) return document;
    if (named !== undefined || status === 200 || status > 499) {
      const got = status === 200 ? "no JSON object" : `status ${status}`;
      throw new AuthorizationError(
        `Cannot read the resource metadata at "${place}": got ${got}, expected a JSON object`,
      );
    }
  }
  return undefined;
}

/** The rules of 2025-03-26: the server's origin is the authorization server, with endpoints by their usual names. */
async function discoverLegacy(context: OAuthContext, server: string, fetch: GuardedFetch): Promise<Discovered> {
  if (!context.options.legacyDiscovery) {
    throw new AuthorizationError(
      `Cannot sign in to "${server}": it has no resource metadata (RFC 9728); set "legacyDiscovery" if it is a server of 2025-03-26`,
    );
  }
  const { origin } = new URL(server);
  const headers = { "accept": "application/json", "mcp-protocol-version": "2025-03-26" };
  const { status, text } = await fetch(`${origin}/.well-known/oauth-authorization-server`, { headers });
  const document = status === 200 ? parseObject(text) : undefined;
  const metadata = document ?? {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
  };
  // The issuer of such a document is what it says; PKCE goes along whether it is announced or not.
  const challenges = { code_challenge_methods_supported: ["S256"] };
  return { metadata: checkMetadata({ ...metadata, ...challenges }), resource: undefined, scopes: [] };
}

/** The resource may be the server's URL, or one above it on the same origin. */
function covers(resource: string, server: string): boolean {
  if (!URL.canParse(resource) || resource.includes("#")) return false;
  const { origin, pathname } = new URL(resource);
  const own = new URL(server);
  const path = pathname.replace(/\/$/, "");
  return origin === own.origin && `${own.pathname}/`.startsWith(`${path}/`);
}

const kinds = { url: "an absolute URL", texts: "a list of texts", flag: "true or false" } as const;

/** What is used of the metadata, and what it has to be. */
const fields: Readonly<Record<Exclude<keyof ServerMetadata, "issuer">, keyof typeof kinds>> = {
  authorization_endpoint: "url",
  token_endpoint: "url",
  registration_endpoint: "url",
  revocation_endpoint: "url",
  device_authorization_endpoint: "url",
  scopes_supported: "texts",
  code_challenge_methods_supported: "texts",
  token_endpoint_auth_methods_supported: "texts",
  grant_types_supported: "texts",
  authorization_grant_profiles_supported: "texts",
  client_id_metadata_document_supported: "flag",
  authorization_response_iss_parameter_supported: "flag",
  dpop_signing_alg_values_supported: "texts",
};

/** Keeps what is used, checked. Whether one may go there is judged when one does. */
function checkMetadata(document: Readonly<Record<string, unknown>>): ServerMetadata {
  const issuer = String(document["issuer"]);
  const kept: Record<string, unknown> = { issuer };
  for (const [field, kind] of Object.entries(fields)) {
    const value = document[field] ?? undefined;
    if (value === undefined) continue;
    const isRight = kind === "texts"
      ? isTexts(value)
      : kind === "flag"
      ? typeof value === "boolean"
      : typeof value === "string" && URL.canParse(value);
    if (!isRight) {
      throw new AuthorizationError(
        `Cannot use the metadata of "${issuer}": "${field}" is ${shown(value)}, expected ${kinds[kind]}`,
      );
    }
    kept[field] = value;
  }
  return { issuer, ...kept };
}

/** A value of a foreign document, fit for a message. */
function shown(value: unknown): string {
  return value === undefined ? "missing" : excerpt(JSON.stringify(value), 100);
}
