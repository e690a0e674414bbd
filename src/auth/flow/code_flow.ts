/**
 * Signing a person in: the code flow with PKCE (specification: Authorization Flow; OAuth 2.1, section 4.1).
 *
 * @module
 */
import { randomHex } from "../../ports.ts";
import type { AuthorizationRequest, PendingAuthorization } from "../options.ts";
import { parseObject } from "../parse.ts";
import type { OAuthContext } from "./context.ts";
import type { Discovered } from "./discovery.ts";
import { identify } from "./identity.ts";
import { isPendingRecord, type PendingList, pendingOf, type PendingRecord } from "./records.ts";
import { readUrl } from "../../egress/url.ts";

/** How long a sign-in may take, in milliseconds. */
const patience = 600_000;

/**
 * Begins a sign-in, and keeps what finishes it.
 *
 * @throws {AuthorizationError} When the server cannot do what is needed, or names an address that nobody should open.
 */
export async function begin(
  context: OAuthContext,
  server: string,
  found: Discovered,
): Promise<AuthorizationRequest> {
  const { metadata, resource, scopes } = found;
  const { issuer, authorization_endpoint: endpoint, token_endpoint: last, code_challenge_methods_supported: methods } =
    metadata;
  const { redirectUri, session } = context.options;
  const fail = (reason: string) => context.failure(`Cannot sign in at "${issuer}": ${reason}`);
  if (redirectUri === undefined) throw fail('set "redirectUri", where the person comes back to');
  if (!endpoint || !last) throw fail(`its metadata has no "${endpoint ? "token" : "authorization"}_endpoint"`);
  if (!methods?.includes("S256")) {
    throw fail('its "code_challenge_methods_supported" has no "S256"; set "discover"');
  }
  const client = await identify(context, found, server);
  const state = randomHex(context.random, 32);
  const verifier = randomHex(context.random, 32);
  context.secret(state);
  context.secret(verifier);
  const expiresAt = context.clock.now() + patience;
  const key = await pendingKey(context, state);
  await context.write(
    key,
    {
      state,
      verifier,
      server,
      redirectUri,
      resource,
      metadata,
      scopes,
      client,
      session,
      expiresAt,
    } satisfies PendingRecord,
  );
  await index(context, { key, expiresAt });
  const url = new URL(endpoint);
  const parameters = {
    response_type: "code",
    client_id: client.clientId,
    redirect_uri: redirectUri,
    code_challenge: await challengeOf(verifier),
    code_challenge_method: "S256",
    state,
    scope: scopes.length ? scopes.join(" ") : undefined,
    resource,
    // OpenID Connect gives a refresh token only where the person was asked.
    prompt: scopes.includes("offline_access") ? "consent" : undefined,
  };
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) url.searchParams.set(name, value);
  }
  url.hash = "";
  return { authorizationUrl: url.href, pending: { id: key, server, issuer, scopes, expiresAt } };
}

/** Tells whether a sign-in can still be finished. */
export async function isPending(context: OAuthContext, { id, expiresAt }: PendingAuthorization): Promise<boolean> {
  return expiresAt > context.clock.now() && await context.text(id) !== undefined;
}

/**
 * Reads what a person came back with, and takes the sign-in that it belongs to: it can be finished once.
 *
 * @param expected The one sign-in that it has to belong to, where one is waited for.
 * @returns The sign-in and its code.
 * @throws {AuthorizationError} When no sign-in waits for it, or the server or the person refused.
 */
export async function takeCallback(
  context: OAuthContext,
  callback: string | URL,
  expected?: PendingAuthorization,
): Promise<{ readonly pending: PendingRecord; readonly code: string }> {
  const fail = (reason: string, error?: string) => context.failure(`Cannot finish the sign-in: ${reason}`, { error });
  const url = readUrl(callback);
  if (!url) throw fail("the callback is no URL");
  const { searchParams } = url;
  const [state, iss, code, error, description] = ["state", "iss", "code", "error", "error_description"].map((name) => {
    const [value, ...more] = searchParams.getAll(name);
    if (more.length) throw fail(`the callback has more than one "${name}"`);
    return value;
  });
  if (!state) throw fail('the callback has no "state"');
  const key = await pendingKey(context, state);
  // Nor may a sign-in that somebody else began end in the place of one's own.
  const kept = (expected?.id ?? key) === key ? await context.read(key, isPendingRecord) : undefined;
  const { session } = context.options;
  // Somebody else's state changes nothing for the one who waits.
  if (!kept || kept.content.session !== session || kept.content.expiresAt <= context.clock.now()) {
    throw fail("nobody waits for this state: it is finished, too old, or of somebody else");
  }
  const { issuer, authorization_response_iss_parameter_supported: isIssuerTold } = kept.content.metadata;
  // Letter by letter (RFC 9207), and before anything else of the callback is believed or shown.
  if (iss === undefined ? isIssuerTold : iss !== issuer) throw fail(`the callback is not from "${issuer}"`);
  if (!code && error === undefined) throw fail('the callback has no "code"');
  if (!await context.store.compareAndSet(key, kept.text, undefined)) throw fail("it was finished a moment ago");
  if (!code || error !== undefined) {
    const text = [error, description].filter(Boolean).join(": ");
    throw fail(`"${issuer}" answered ${text}`, error);
  }
  context.secret(code);
  return { pending: kept.content, code };
}

/** What the server is shown of a verifier (RFC 7636, section 4.2): its hash, in base64url. */
async function challengeOf(verifier: string): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  return btoa(String.fromCharCode(...new Uint8Array(hash))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=/g, "");
}

/**
 * Remembers a sign-in among those of its subject, and forgets those that nobody finished: the ones that are too old, and of many
 * the oldest.
 */
async function index(context: OAuthContext, entry: PendingList["list"][number]): Promise<void> {
  const mostPending = 50;
  const key = await context.ownKey("index");
  for (let attempt = 0; attempt < 5; attempt++) {
    const text = await context.text(key);
    const all = [...pendingOf(parseObject(text ?? "") ?? {}), entry];
    const list = all.filter(({ expiresAt }) => expiresAt > context.clock.now()).slice(-mostPending);
    if (await context.store.compareAndSet(key, text, JSON.stringify({ list } satisfies PendingList))) {
      const gone = all.filter((other) => !list.includes(other));
      await Promise.all(gone.map((other) => context.store.delete(other.key)));
      return;
    }
  }
}

/** The key of a sign-in: only who knows the state can name it. */
function pendingKey(context: OAuthContext, state: string): Promise<string> {
  return context.ownKey("pending", state);
}
