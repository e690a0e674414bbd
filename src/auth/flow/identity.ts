/**
 * Who a client is to an authorization server (specification: Client Registration).
 *
 * @module
 */
import { isLoopbackHost } from "../../egress/address.ts";
import { wordsOf } from "../failure.ts";
import { parseObject } from "../parse.ts";
import type { ClientAuthMethod, OAuthClient, ServerMetadata } from "../seam.ts";
import type { OAuthContext } from "./context.ts";
import type { Discovered } from "./discovery.ts";
import { isKnownClient, type KnownClient } from "./records.ts";

/**
 * What a client registers for, the best first. With a secret in the header some servers want the id in the form too (the official
 * SDK's for Python), and others refuse it there; in the form all who take it agree.
 */
const authMethods: readonly string[] = [
  "none",
  "client_secret_post",
  "client_secret_basic",
] satisfies ClientAuthMethod[];

/**
 * The client that an authorization server knows: named in advance, by the URL of a document, registered before for these scopes, or
 * registered now.
 *
 * @throws {AuthorizationError} When it knows none, and none can be registered.
 */
export async function identify(
  context: OAuthContext,
  { metadata, scopes }: Discovered,
  server: string,
): Promise<KnownClient> {
  const { clientMetadataUrl } = context.options;
  const known = await knownInAdvance(context, metadata);
  if (known) return known;
  if (clientMetadataUrl !== undefined && metadata.client_id_metadata_document_supported) {
    return { clientId: clientMetadataUrl };
  }
  const key = await clientKey(context, metadata, scopes);
  const kept = (await context.read(key, isKnownClient))?.content;
  if (kept && (kept.secretExpiresAt ?? Infinity) > context.clock.now()) return kept;
  const client = await register(context, metadata, server, scopes.join(" "));
  context.secret(client.clientSecret);
  await context.write(key, client);
  return client;
}

/** Forgets a client that was registered, since the server does not know it any more. A newer one stays. */
export async function forgetClient(
  context: OAuthContext,
  { metadata, scopes }: Pick<Discovered, "metadata" | "scopes">,
  { clientId }: KnownClient,
): Promise<void> {
  const key = await clientKey(context, metadata, scopes);
  const kept = await context.read(key, isKnownClient);
  if (kept?.content.clientId === clientId) await context.store.compareAndSet(key, kept.text, undefined);
}

/**
 * Many servers let a client ask for those scopes alone that it registered with: each set of them has its own. Where the program names
 * those of its client, they are the same each time.
 */
function clientKey(context: OAuthContext, { issuer }: ServerMetadata, scopes: readonly string[]): Promise<string> {
  const { redirectUri, clientMetadata } = context.options;
  return context.key("client", issuer, redirectUri, ...clientMetadata?.["scope"] ? [] : [...scopes].sort());
}

/** The client of a record, with what the options say of it. */
export function fullClient(context: OAuthContext, known: KnownClient, metadata: ServerMetadata): OAuthClient {
  context.secret(known.clientSecret);
  // Two servers may know two clients by one id, and a hostile one registers whom it likes under it: each gets its own secret.
  const own = context.clients.find(({ clientId, issuer = metadata.issuer }) =>
    !known.isRegistered && clientId === known.clientId && issuer === metadata.issuer
  );
  return own ?? known;
}

async function knownInAdvance(context: OAuthContext, { issuer }: ServerMetadata): Promise<KnownClient | undefined> {
  const { clients } = context;
  const own = clients.find((client) => client.issuer === issuer);
  if (own) return { clientId: own.clientId };
  const unbound = clients.find((client) => client.issuer === undefined);
  if (!unbound) {
    if (!clients.length) return undefined;
    throw context.failure(
      `Cannot sign in at "${issuer}": the client is registered with "${
        clients.map((client) => client.issuer).join('", "')
      }"`,
    );
  }
  // Nobody else may learn what was made for the first.
  const key = await context.key("issuer", unbound.clientId);
  if (!await context.store.compareAndSet(key, undefined, issuer)) {
    const first = await context.store.get(key);
    if (first !== issuer) {
      throw context.failure(
        `Cannot use the client "${unbound.clientId}" at "${issuer}": it belongs to "${first}"; name the "issuer" of each`,
      );
    }
  }
  return { clientId: unbound.clientId };
}

/** Registers a client (RFC 7591). */
async function register(
  context: OAuthContext,
  metadata: ServerMetadata,
  server: string,
  scope: string,
): Promise<KnownClient> {
  const { issuer, registration_endpoint: endpoint } = metadata;
  const { redirectUri, clientMetadata, grant } = context.options;
  if (endpoint === undefined) {
    throw context.failure(
      `Cannot register at "${issuer}": it takes no registrations; set "client" to one that it knows`,
    );
  }
  const { token_endpoint_auth_methods_supported: supported = ["client_secret_basic"] } = metadata;
  const wanted = authMethods.find((method) => supported.includes(method)) ?? "none";
  const body = {
    client_name: "Causeway",
    // Without a word about responses a client is one that a person comes back to (RFC 7591, section 2).
    ...redirectUri === undefined
      ? { redirect_uris: [], response_types: [] }
      : { redirect_uris: [redirectUri], response_types: ["code"], application_type: applicationType(redirectUri) },
    grant_types: [
      ...new Set([
        ...redirectUri === undefined ? [] : ["authorization_code"],
        ...grant?.grantTypes ?? [],
        "refresh_token",
      ]),
    ],
    token_endpoint_auth_method: wanted,
    ...clientMetadata,
  };
  const headers = { "content-type": "application/json", "accept": "application/json" };
  const fetch = context.guarded(server);
  const send = (named?: string) =>
    fetch(endpoint, { method: "POST", headers, body: JSON.stringify({ scope: named, ...body }) });
  let reply = await send(scope || undefined);
  // Others take no client that names scopes.
  if (scope && reply.status > 399 && reply.status < 429) reply = await send();
  const { status, text } = reply;
  const answer = parseObject(text) ?? {};
  const { client_id: clientId, client_secret: clientSecret, client_secret_expires_at: expires } = answer;
  if (status > 299 || typeof clientId !== "string" || clientId === "") {
    throw context.failure(
      `Cannot register at "${issuer}": it answered ${wordsOf(status, answer)}, expected a "client_id"`,
      { error: answer["error"], retryable: status > 499 },
    );
  }
  // Who is not told how to show a secret shows it as it asked for, and who asked for none as the server supports it.
  const method = answer["token_endpoint_auth_method"] ?? clientMetadata?.["token_endpoint_auth_method"] ??
    (wanted === "none" ? undefined : wanted);
  return {
    clientId,
    isRegistered: true,
    clientSecret: typeof clientSecret === "string" ? clientSecret : undefined,
    authMethod: authMethods.find((known): known is ClientAuthMethod => known === method),
    // 0: never.
    secretExpiresAt: Number(expires) > 0 ? Number(expires) * 1_000 : undefined,
  };
}

/** What comes back to this machine is native; a page elsewhere is not (OpenID Connect Registration; SEP-837). */
function applicationType(redirectUri: string): "native" | "web" {
  const { protocol, hostname } = new URL(redirectUri);
  return protocol !== "https:" || isLoopbackHost(hostname) ? "native" : "web";
}
