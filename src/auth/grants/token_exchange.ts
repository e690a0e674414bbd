/**
 * Asks an identity provider for another token in exchange for one (RFC 8693).
 *
 * @module
 */
import { isLoopbackHost } from "../../egress/address.ts";
import { Redactor, urlWithoutQuery } from "../../egress/redact.ts";
import { AuthorizationError } from "../../protocol/errors.ts";
import { excerpt } from "../../protocol/excerpt.ts";
import { fetchMetadata } from "../discovery/metadata.ts";
import { parseObject } from "../parse.ts";
import type { GrantContext, OAuthClient } from "../seam.ts";
import { authenticationOf } from "../authentication.ts";
import { readUrl } from "../../egress/url.ts";

/** The identity provider of an enterprise, and who we are there. */
export interface IdentityProvider extends Omit<OAuthClient, "issuer"> {
  /** Its issuer: its metadata tells the token endpoint. */
  readonly issuer?: string | undefined;
  /** Its token endpoint, where its metadata is not to be asked. */
  readonly tokenEndpoint?: string | undefined;
}

/** What token endpoints call an ID-JAG. */
const idJag = "urn:ietf:params:oauth:token-type:id-jag";
/** How much of a server's words a message has. */
const longestWords = 200;
/** What a reply may hold that belongs into no message. */
const secretFields = ["subject_token", "client_secret", "client_assertion"];

/**
 * Gets an identity assertion authorization grant (ID-JAG) for an authorization server.
 *
 * @param parameters What is asked for beside the kind of token.
 * @returns The grant, good for the authorization server alone. Secret.
 * @throws {AuthorizationError} When the identity provider refuses (`error` has its code), or gives something else.
 * @throws {McpError} When it cannot be reached.
 */
export async function exchangeForGrant(
  context: GrantContext,
  provider: IdentityProvider,
  parameters: Readonly<Record<string, string>>,
): Promise<string> {
  const { endpoint, metadata } = await locate(context, provider);
  const body = new URLSearchParams({
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    requested_token_type: idJag,
    ...parameters,
  });
  const headers = new Headers({
    accept: "application/json",
    "content-type": "application/x-www-form-urlencoded;charset=UTF-8",
  });
  const authenticate = authenticationOf(provider, metadata.token_endpoint_auth_methods_supported);
  await authenticate(
    { ...metadata, issuer: provider.issuer ?? endpoint },
    { client_id: provider.clientId },
    body,
    headers,
  );
  const redactor = new Redactor();
  const credentials = headers.get("authorization")?.split(" ")[1];
  for (const secret of [...secretFields.map((field) => body.get(field)), provider.clientSecret, credentials]) {
    if (!secret) continue;
    context.secret(secret);
    redactor.add(secret);
  }
  const { fetch, signal } = context;
  const { status, text } = await fetch(endpoint, { method: "POST", headers, body: body.toString(), signal });
  return readGrant(endpoint, status, text, redactor);
}

/** Where the identity provider's token endpoint is, and what else its metadata says. */
async function locate(
  { fetch, signal }: GrantContext,
  { issuer = "", tokenEndpoint }: IdentityProvider,
): Promise<{ endpoint: string; metadata: Readonly<Record<string, unknown>> }> {
  if (tokenEndpoint !== undefined) return { endpoint: tokenEndpoint, metadata: {} };
  const metadata = await fetchMetadata(issuer, fetch, signal);
  const { token_endpoint: endpoint } = metadata;
  if (typeof endpoint === "string" && isSafeEndpoint(endpoint, issuer)) return { endpoint, metadata };
  throw new AuthorizationError(
    `Cannot use the metadata of the identity provider "${issuer}": expected "token_endpoint" to be an https URL`,
  );
}

/**
 * Whether secrets may be sent there: TLS, or this machine.
 *
 * @param operator The address that the operator gave: it is on this machine too, where TLS is not used.
 */
export function isSafeEndpoint(endpoint: string, operator: string): boolean {
  const url = readUrl(endpoint);
  if (!url || url.username || url.password) return false;
  const { protocol, hostname } = url;
  return protocol === "https:" ||
    (protocol === "http:" && isLoopbackHost(hostname) && isLoopbackHost(new URL(operator).hostname));
}

/** The grant in the token endpoint's answer. */
function readGrant(endpoint: string, status: number, text: string, redactor: Redactor): string {
  const answer = parseObject(text);
  const refuse = (reason: string, error?: string): never => {
    const said = `Cannot use the token response of the identity provider "${urlWithoutQuery(endpoint)}": ${reason}`;
    throw new AuthorizationError(said, { error, delivery: "answered" });
  };
  /** A server's words, fit for a message. */
  const clean = (words: string): string =>
    excerpt(redactor.redact(words.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "")), longestWords);
  const show = (value: unknown): string =>
    typeof value === "string" ? `"${clean(value)}"` : `a value of type ${value === null ? "null" : typeof value}`;
  if (status !== 200) {
    const { error, error_description: description } = answer ?? {};
    if (typeof error !== "string" || !error) return refuse(`expected "error" with status ${status}`);
    const words = description === undefined ? "" : `, ${show(description)}`;
    return refuse(`it refused with ${show(error)}${words}`, clean(error));
  }
  if (!answer) return refuse("expected a JSON object");
  const { access_token: token, issued_token_type: issued, token_type: type } = answer;
  if (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token)) {
    return refuse(`expected "access_token" to be a text of visible ASCII characters`);
  }
  redactor.add(token);
  if (issued !== idJag) return refuse(`expected "issued_token_type" to be "${idJag}", got ${show(issued)}`);
  if (typeof type !== "string" || type.toLowerCase() !== "n_a") {
    return refuse(`expected "token_type" to be "N_A", got ${show(type)}`);
  }
  return token;
}
