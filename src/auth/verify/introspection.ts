/**
 * Access tokens of any kind: the authorization server is asked for each of them (RFC 7662).
 *
 * @module
 */
import {
  allowInsecureRequests,
  ClientSecretBasic,
  customFetch,
  introspectionRequest,
  processIntrospectionResponse,
  ResponseBodyError,
} from "oauth4webapi";
import type { GuardedFetch } from "../../egress/guarded_fetch.ts";
import type { TokenClaims } from "../../ports.ts";
import { AuthorizationError, ConnectError, McpError } from "../../protocol/errors.ts";
import { claimsOf } from "./claims.ts";
import { createVerifierParts, type VerifierOptions, type VerifierParts } from "./options.ts";

/** Options of {@linkcode createIntrospectionVerifier}. */
export interface IntrospectionVerifierOptions extends VerifierOptions {
  /** Where tokens are introspected. */
  endpoint: string;
  /** Who asks: the resource, as the authorization server knows it. */
  clientId: string;
  /** Its secret, sent by HTTP Basic. */
  clientSecret: string;
}

/**
 * Makes a verifier that asks the authorization server for each token: the `verify` of `protectResource`, for tokens that are no
 * JWT, or that have to end at once when they are withdrawn. Each request to the resource costs one to the server.
 *
 * @returns The verifier: undefined for a token that is not active, or whose issuer is another one.
 * @throws {TypeError} When an option makes no sense.
 *
 * @example Tokens without a meaning of their own
 * ```ts
 * import { createIntrospectionVerifier } from "@causeway/mcp/auth";
 *
 * const verify = createIntrospectionVerifier({
 *   issuer: "https://auth.example.com",
 *   endpoint: "https://auth.example.com/introspect",
 *   clientId: "my-server",
 *   clientSecret: "a secret of the server",
 *   fetch: () => Promise.resolve(Response.json({ active: false })),
 * });
 * console.assert(await verify("t0ken") === undefined);
 * ```
 */
export function createIntrospectionVerifier(
  options: IntrospectionVerifierOptions,
): (token: string) => Promise<TokenClaims | undefined> {
  const { endpoint, clientId, clientSecret } = options;
  if (!clientId || !clientSecret) {
    throw new TypeError('Cannot introspect tokens: "clientId" and "clientSecret" are needed');
  }
  const parts = createVerifierParts(options, endpoint);
  const { issuer, refused } = parts;
  const server = { issuer, introspection_endpoint: endpoint };
  const client = { client_id: clientId };
  const authentication = ClientSecretBasic(clientSecret);
  const request = {
    [customFetch]: (url: string, init: object) => send(parts, url, init),
    // What may be asked, the egress guard decides.
    [allowInsecureRequests]: true,
  };
  return async (token) => {
    try {
      const response = await introspectionRequest(server, client, authentication, token, request);
      const said = await processIntrospectionResponse(server, client, response);
      if (!said.active) return refused("it is not active");
      // It proves itself together with a key, and this is no proof of that.
      if (said.cnf !== undefined) return refused("it is bound to a key");
      const claims = claimsOf(said);
      if (!claims) return refused("a claim is missing");
      return (claims.issuer ?? issuer) === issuer ? { ...claims, issuer } : refused("its issuer is another one");
    } catch (error) {
      // Some servers answer so to a signed token where theirs are opaque: whoever sent it brought none of those.
      if (error instanceof ResponseBodyError && error.error === "unsupported_token_type") {
        return refused("its type is not introspected");
      }
      if (error instanceof McpError) {
        throw new ConnectError("Cannot reach the authorization server", { cause: error, retryable: true });
      }
      // The library's errors may hold what was sent.
      throw new AuthorizationError(
        "Cannot introspect tokens: the authorization server refused to, or answered nonsense",
      );
    }
  };
}

/** Sends by the guarded fetch, and gives what came as a response. */
async function send({ fetch }: VerifierParts, url: string, init: Parameters<GuardedFetch>[1]): Promise<Response> {
  const { status, headers, text } = await fetch(url, init);
  const isEmpty = [101, 204, 205, 304].includes(status);
  return new Response(isEmpty ? null : text, { status, headers });
}
