/**
 * The metadata of a protected resource, and how it is served (RFC 9728, sections 2 and 3).
 *
 * @module
 */
import type { JsonObject } from "../../protocol/json_rpc.ts";
import { jsonText, notAllowed, refuse } from "../http/replies.ts";
import { isScope } from "./bearer.ts";
import type { ProtectOptions } from "./options.ts";
import { type ResourceUrl, wellKnown } from "./resource_url.ts";
import { readUrl } from "../../egress/url.ts";

/** How long a client may keep the document, in seconds. */
const maxAge = 3_600;

/**
 * Makes the document.
 *
 * @throws {TypeError} When it would say what has no sense.
 */
export function createMetadata(options: ProtectOptions, { href }: ResourceUrl): JsonObject {
  const { authorizationServers, requiredScopes = [], scopesSupported = requiredScopes } = options;
  // Of a text each letter would be one: nobody has such scopes.
  for (const [name, list] of Object.entries({ authorizationServers, requiredScopes, scopesSupported })) {
    if (!Array.isArray(list)) throw new TypeError(`Cannot protect a resource: "${name}" is no list of texts`);
  }
  if (!authorizationServers.length) throw new TypeError("Cannot protect a resource: expected an authorization server");
  for (const server of authorizationServers) checkIssuer(server);
  for (const scope of [...requiredScopes, ...scopesSupported]) checkScope(scope);
  const { resourceName, resourceDocumentation, metadata } = options;
  return {
    ...metadata,
    resource: href,
    authorization_servers: [...authorizationServers],
    bearer_methods_supported: ["header"],
    ...(scopesSupported.length && { scopes_supported: [...scopesSupported] }),
    ...(resourceName !== undefined && { resource_name: resourceName }),
    ...(resourceDocumentation !== undefined && { resource_documentation: resourceDocumentation }),
  };
}

/**
 * Answers requests below the well-known path: at the place of this resource, and at the root, where clients of 2025-06-18
 * look. Undefined for all other requests.
 */
export function serveMetadata(
  request: Request,
  document: JsonObject,
  { metadataPath }: ResourceUrl,
): Response | undefined {
  // Most requests are none: they are not taken apart.
  if (!request.url.includes(wellKnown)) return undefined;
  const { pathname } = new URL(request.url);
  if (pathname !== wellKnown && !pathname.startsWith(wellKnown + "/")) return undefined;
  const path = pathname.replace(/\/$/, "");
  if (path !== wellKnown && path !== metadataPath.replace(/\/$/, "")) return refuse(404, "There is nothing here");
  if (request.method !== "GET" && request.method !== "HEAD") return notAllowed("GET, HEAD, OPTIONS");
  const text = request.method === "GET" ? JSON.stringify(document) : "";
  // Who asks without an Origin must not leave a cache with what no page can read; with one, the guard says it.
  const vary = request.headers.has("origin") ? undefined : { vary: "Origin" };
  return jsonText(text, 200, { "cache-control": `max-age=${maxAge}`, ...vary });
}

/** @throws {TypeError} When it is none that a challenge or the metadata may hold. */
export function checkScope(scope: string): void {
  if (!isScope(scope)) {
    throw new TypeError(`Cannot use the scope "${scope}": expected visible ASCII without spaces and quotes`);
  }
  // It is between client and authorization server (specification 2026-07-28: Refresh Tokens).
  if (scope === "offline_access") {
    throw new TypeError('Cannot list the scope "offline_access": it is no matter of a resource');
  }
}

function checkIssuer(issuer: string): void {
  const isSound = /^https?:\/\/[^?#\s]+$/.test(issuer) && readUrl(issuer);
  if (!isSound) {
    throw new TypeError(`Cannot name the authorization server "${issuer}": expected its issuer, an absolute URL`);
  }
}
