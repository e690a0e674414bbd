/**
 * From an MCP server to the authorization server that speaks for it (specification: Authorization Server Discovery; RFC 9728).
 *
 * @module
 */
import { judgeUrl } from "../../egress/address.ts";
import type { GuardedFetch } from "../../egress/guarded_fetch.ts";
import type { McpError } from "../../protocol/errors.ts";
import { urlWithoutQuery } from "../../protocol/excerpt.ts";
import { isTexts } from "../../protocol/json_rpc.ts";
import { failure } from "../failure.ts";
import { fetchMetadata, lookAt } from "../discovery/metadata.ts";
import type { ServerMetadata } from "../seam.ts";
import type { OAuthContext } from "./context.ts";
import { readUrl } from "../../egress/url.ts";

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
  const { discover: ownWay, fallback } = context.options;
  const own = await ownWay?.(server, fetch);
  const document = own ? undefined : await findResource(fetch, server, options.metadataUrl, fallback);
  if (!document) {
    const { metadata, resource, scopes = [] } = own ?? { metadata: await fallback?.(new URL(server).origin, fetch) };
    if (metadata) return { metadata: checkMetadata(metadata, context, server), resource, scopes };
    throw failure(
      `Cannot sign in to "${
        urlWithoutQuery(server)
      }": it has no resource metadata (RFC 9728); a server of 2025-03-26 needs "fallback"`,
    );
  }
  const { resource, authorization_servers: issuers, scopes_supported } = document;
  const scopes = scopes_supported ?? [];
  const wrong = (field: string, expected: string) =>
    context.failure(
      `Cannot use the resource metadata of "${urlWithoutQuery(server)}": "${field}" is ${
        context.shown(document[field])
      }, expected ${expected}`,
    );
  if (typeof resource !== "string" || !covers(resource, server)) throw wrong("resource", "the server's own URL");
  if (!isTexts(issuers) || !issuers.length || !issuers.every((name) => readUrl(name))) {
    throw wrong("authorization_servers", "a list of issuers");
  }
  if (!isTexts(scopes)) throw wrong("scopes_supported", "a list of texts");
  const known: readonly unknown[] = [...context.clients.map(({ issuer }) => issuer), ...context.options.issuers ?? []];
  const [issuer = ""] = [
    ...issuers.filter((name) => known.includes(name)),
    ...issuers.filter((name) => name === options.issuer),
    ...issuers,
  ];
  const metadata = checkMetadata(await fetchMetadata(issuer, fetch, undefined, known), context, server);
  return { metadata, resource, scopes };
}

/** The metadata of the resource: from where the challenge says, else from the places that the specification names, in their order. */
async function findResource(
  fetch: GuardedFetch,
  server: string,
  named: string | undefined,
  fallback: unknown,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const { origin, pathname } = new URL(server);
  const path = pathname.replace(/\/$/, "");
  const usual = [path, ""].map((end) => origin + wellKnown + end);
  let wrong: McpError | undefined;
  for (const place of new Set([...named === undefined ? [] : [named], ...usual])) {
    const { status, document, error } = await lookAt(place, fetch);
    if (document) return document;
    const got = status === 200 ? "no JSON object" : `status ${status}`;
    const none = failure(`Cannot read the resource metadata at "${place}": got ${got}, expected a JSON object`);
    // A usual place may hold a page that all addresses of its site show.
    if (status > 499) throw none;
    // What a server says of itself is often not so behind a proxy, or below a path: the usual places may have it all the same.
    // A server of 2025-03-26 has something else there.
    wrong ??= place === named ? error ?? none : fallback ? undefined : error;
  }
  if (wrong) throw wrong;
  return undefined;
}

/** The resource may be the server's URL, or one above it on the same origin. */
function covers(resource: string, server: string): boolean {
  const url = readUrl(resource);
  if (!url || resource.includes("#")) return false;
  const { origin, pathname, username, password } = url;
  const own = new URL(server);
  const path = pathname.replace(/\/$/, "");
  return !username && !password && origin === own.origin && `${own.pathname}/`.startsWith(`${path}/`);
}

/** What is used of the metadata: addresses, lists of texts, and yes or no. */
const endpoints = ["authorization", "token", "registration", "revocation", "device_authorization"];
const lists = [
  ...["scopes", "grant_types", "code_challenge_methods", "token_endpoint_auth_methods"],
  ...["authorization_grant_profiles", "dpop_signing_alg_values"],
];
const flags = ["client_id_metadata_document", "authorization_response_iss_parameter"];

/** Keeps what is used, checked: before a person is sent anywhere, or anybody is told of a client. */
function checkMetadata(
  document: Readonly<Record<string, unknown>>,
  context: OAuthContext,
  server: string,
): ServerMetadata {
  const policy = context.policy(server);
  const issuer = String(document["issuer"]);
  const kept: ServerMetadata & Record<string, unknown> = { issuer };
  const keep = (field: string, judge: (value: unknown) => string | undefined): void => {
    const value = document[field] ?? undefined;
    const reason = value === undefined ? undefined : judge(value);
    if (reason) {
      throw context.failure(
        `Cannot use the metadata of "${issuer}": "${field}" is ${context.shown(value)}, expected ${reason}`,
      );
    }
    kept[field] = value;
  };
  const judgePlace = (value: unknown) => {
    const reason = typeof value === "string" ? judgeUrl(value, policy) : "it is no text";
    return reason && `a public https URL: ${reason}`;
  };
  for (const name of endpoints) keep(`${name}_endpoint`, judgePlace);
  for (const name of lists) keep(`${name}_supported`, (value) => isTexts(value) ? undefined : "a list of texts");
  for (const name of flags) {
    keep(`${name}_supported`, (value) => value === !!value ? undefined : "true or false");
  }
  return kept;
}
