/**
 * Asking an authorization server: as a client, bounded and guarded, with answers that were checked.
 *
 * @module
 */
import { customFetch, genericTokenEndpointRequest } from "oauth4webapi";
import { allowInsecureRequests } from "oauth4webapi";
import type { GuardedFetch } from "../../egress/guarded_fetch.ts";
import { excerpt } from "../../protocol/excerpt.ts";
import { AuthorizationError } from "../../protocol/errors.ts";
import { isTextOrMissing } from "../../protocol/json_rpc.ts";
import { authenticationOf } from "../authentication.ts";
import { parseObject } from "../parse.ts";
import type { DpopHandle, FormEndpoint, OAuthClient, ServerMetadata, TokenResponse } from "../seam.ts";
import type { OAuthContext } from "./context.ts";
import { readScopes } from "./scopes.ts";

/** Who asks whom. */
export interface Asking {
  readonly context: OAuthContext;
  readonly metadata: ServerMetadata;
  readonly client: OAuthClient;
  readonly fetch: GuardedFetch;
  readonly dpop?: DpopHandle | undefined;
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
  const ask = () => post(asking, "token_endpoint", parameters, grantType);
  const answer = await ask().catch((error: unknown) => {
    // The nonce that was missing came with the refusal.
    if (dpop && error instanceof AuthorizationError && error.error === "use_dpop_nonce") return ask();
    throw error;
  });
  const { access_token: accessToken, refresh_token: refreshToken, scope, token_type: type = "bearer" } = answer;
  const expiresIn = Number(answer["expires_in"] ?? undefined);
  const tokenType = String(type).toLowerCase();
  const wrong = (field: string, expected: string) =>
    new AuthorizationError(`Cannot use the token of "${metadata.issuer}": "${field}" is not ${expected}`);
  if (typeof accessToken !== "string" || !/^[!-~]+$/.test(accessToken)) throw wrong("access_token", "a token");
  if (tokenType !== "bearer" && tokenType !== "dpop") throw wrong("token_type", '"Bearer" or "DPoP"');
  if (!isTextOrMissing(refreshToken)) throw wrong("refresh_token", "a text");
  context.secret(accessToken);
  context.secret(refreshToken);
  return {
    accessToken,
    tokenType,
    refreshToken,
    expiresIn: expiresIn >= 0 ? expiresIn : undefined,
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
  { metadata, client, fetch, dpop, context }: Asking,
  endpoint: FormEndpoint,
  parameters: Readonly<Record<string, string | undefined>>,
  grantType?: string,
): Promise<Record<string, unknown>> {
  const { issuer, [endpoint]: url } = metadata;
  if (url === undefined) throw new AuthorizationError(`Cannot ask "${issuer}": its metadata has no "${endpoint}"`);
  const given = Object.entries(parameters).flatMap(([name, value]) => value === undefined ? [] : [[name, value]]);
  let text = "";
  // The library's one way to speak as a client: what it is told is the token endpoint may be another one.
  const { status } = await genericTokenEndpointRequest(
    { issuer, token_endpoint: url },
    { client_id: client.clientId },
    authenticationOf(client, metadata.token_endpoint_auth_methods_supported),
    grantType ?? endpoint,
    new URLSearchParams(given),
    {
      // Addresses are judged by the guarded fetch, which knows when http is all right.
      [allowInsecureRequests]: true,
      ...dpop && { DPoP: dpop },
      async [customFetch](target, { body, headers, method }) {
        if (grantType === undefined) body.delete("grant_type");
        body.forEach((value, name) => isSecret.test(name) && context.secret(value));
        const reply = await fetch(target, { body, headers, method });
        text = reply.text;
        return new Response(null, { status: reply.status, headers: reply.headers });
      },
    },
  );
  const answer = readAnswer(text);
  const { error, error_description: description } = answer ?? {};
  if (status > 199 && status < 300 && answer && error === undefined) return answer;
  const code = typeof error === "string" ? excerpt(error, 100) : undefined;
  const said = [status, code ?? (answer ? "" : "no JSON object"), description].filter(Boolean).join(" ");
  throw new AuthorizationError(
    excerpt(context.redactor.redact(`"${issuer}" refused at its "${endpoint}": ${said}`), 500),
    { error: code, retryable: status === 429 || status > 499 },
  );
}

/** A JSON object, a form (as some servers answer), or nothing at all. */
function readAnswer(text: string): Record<string, unknown> | undefined {
  return parseObject(text) ??
    (/^([\w.-]+=[^<{]*)?$/.test(text) ? Object.fromEntries(new URLSearchParams(text)) : undefined);
}

/** The names of values that no text may show. */
const isSecret = /(assertion|code|verifier|token|secret)$/;
