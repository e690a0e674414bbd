/**
 * Asking an authorization server: as a client, bounded and guarded, with answers that were checked.
 *
 * @module
 */
import type { GuardedFetch } from "../../egress/guarded_fetch.ts";
import { AuthorizationError } from "../../protocol/errors.ts";
import { isTextOrMissing } from "../../protocol/json_rpc.ts";
import { authenticationOf } from "../authentication.ts";
import { wordsOf } from "../failure.ts";
import { parseObject } from "../parse.ts";
import type { DpopKey, FormEndpoint, OAuthClient, ServerMetadata, TokenResponse } from "../seam.ts";
import type { OAuthContext } from "./context.ts";
import { readScopes } from "./scopes.ts";

/** Who asks whom. */
export interface Asking {
  readonly context: OAuthContext;
  readonly metadata: ServerMetadata;
  readonly client: OAuthClient;
  readonly fetch: GuardedFetch;
  readonly dpop?: DpopKey | undefined;
  /** Gives up. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Asks the token endpoint.
 *
 * @throws {AuthorizationError} When it refuses (`error` has its code), or answers something else.
 */
export async function requestToken(
  asking: Asking,
  grantType: string,
  parameters: Readonly<Record<string, string | undefined>>,
): Promise<TokenResponse> {
  const { context, metadata, dpop } = asking;
  const ask = () => post(asking, "token_endpoint", { ...parameters, grant_type: grantType });
  const answer = await ask().catch((error: unknown) => {
    // The nonce that was missing came with the refusal.
    if (dpop && error instanceof AuthorizationError && error.error === "use_dpop_nonce") return ask();
    throw error;
  });
  const { access_token: accessToken, scope, expires_in: seconds } = answer;
  // Many servers write null for what they do not have.
  const refreshToken = answer["refresh_token"] || undefined;
  const tokenType = String(answer["token_type"] ?? "bearer").toLowerCase();
  const wrong = (field: string, expected: string) =>
    context.failure(`Cannot use the token of "${metadata.issuer}": "${field}" is not ${expected}`);
  if (typeof accessToken !== "string" || !/^[!-~]+$/.test(accessToken)) throw wrong("access_token", "a token");
  // One that is bound to a key is of no use to who has none.
  if (tokenType !== "bearer" && !(dpop && tokenType === "dpop")) {
    throw wrong("token_type", dpop ? '"Bearer" or "DPoP"' : '"Bearer"');
  }
  if (!isTextOrMissing(refreshToken)) throw wrong("refresh_token", "a text");
  return {
    accessToken,
    tokenType,
    refreshToken,
    // What is no time, or one that nobody lives to see, is not told: it is good until it is refused.
    expiresIn: /^\d{1,9}(\.\d+)?$/.test(String(seconds)) ? Number(seconds) || undefined : undefined,
    scopes: typeof scope === "string" ? readScopes(scope) : undefined,
  };
}

/**
 * Sends a form to an endpoint as the client.
 *
 * @returns What it answered; nothing where it answered nothing.
 * @throws {AuthorizationError} When there is no such endpoint, it refuses (`error` has its code), or answers something else.
 */
export async function post(
  { metadata, client, fetch, dpop, context, signal }: Asking,
  endpoint: FormEndpoint,
  parameters: Readonly<Record<string, string | undefined>>,
): Promise<Record<string, unknown>> {
  const { issuer, [endpoint]: url } = metadata;
  if (url === undefined) throw context.failure(`Cannot ask "${issuer}": its metadata has no "${endpoint}"`);
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) form.set(name, value);
  const headers = new Headers({ accept: "application/json", "content-type": "application/x-www-form-urlencoded" });
  const authenticate = authenticationOf(client, metadata.token_endpoint_auth_methods_supported);
  await authenticate({ issuer }, { client_id: client.clientId }, form, headers);
  form.forEach((value, name) => isSecret.test(name) && context.secret(value));
  context.secret(headers.get("authorization")?.slice(6));
  let text = "";
  const send = async (proof?: string): Promise<Response> => {
    if (proof) headers.set("dpop", proof);
    const reply = await fetch(url, { method: "POST", body: form, headers, signal: signal ?? null });
    text = reply.text;
    return new Response(null, reply);
  };
  const { status } = await (dpop ? dpop.post(url, send) : send());
  const isDone = status > 199 && status < 300;
  // What a revocation answers beside its status says nothing (RFC 7009, section 2.2).
  const answer = isDone && endpoint === "revocation_endpoint" ? {} : readAnswer(text);
  const { error } = answer ?? {};
  if (isDone && answer && !error) return answer;
  throw context.failure(
    `"${issuer}" refused at its "${endpoint}": ${wordsOf(status, answer ?? { error: "no JSON object" })}`,
    { cause: status, error, retryable: status === 429 || status > 499 },
  );
}

/** A JSON object, a form (as some servers answer), or nothing at all. */
function readAnswer(text: string): Record<string, unknown> | undefined {
  return parseObject(text) ??
    (/^([\w.-]+=[^<{]*)?$/.test(text) ? Object.fromEntries(new URLSearchParams(text)) : undefined);
}

/** The names of values that no text may show. */
const isSecret = /(assertion|code|verifier|token|secret)$/;
