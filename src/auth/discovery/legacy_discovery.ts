/**
 * Authorization servers of 2025-03-26: the origin of the MCP server is one (specification 2025-03-26: Authorization, 2.3).
 *
 * @module
 */
import type { GuardedFetch } from "../../egress/guarded_fetch.ts";
import { failure } from "../failure.ts";
import { parseObject } from "../parse.ts";

/**
 * Finds what a server of 2025-03-26 has: the metadata at its origin, else the endpoints by their usual names. The `fallback`
 * of `createOAuth`. It takes for granted what newer servers have to announce: that the server knows PKCE, unless it tells of other
 * ways alone.
 *
 * @throws {AuthorizationError} When the metadata names another issuer, or the server is down.
 * @throws {McpError} When the server cannot be reached.
 */
export async function legacyDiscovery(origin: string, fetch: GuardedFetch): Promise<Readonly<Record<string, unknown>>> {
  const headers = { "accept": "application/json", "mcp-protocol-version": "2025-03-26" };
  const { status, text } = await fetch(`${origin}/.well-known/oauth-authorization-server`, { headers });
  // A server that is down may well have metadata: nothing is taken for granted then.
  if (status > 499) {
    throw failure(`Cannot find the metadata of "${origin}": it answered ${status}`, { retryable: true });
  }
  const document = status === 200 ? parseObject(text) : undefined;
  const { issuer = origin } = document ?? {};
  if (issuer !== origin && issuer !== `${origin}/`) {
    throw failure(`Cannot use the metadata of "${origin}": it names another issuer`);
  }
  return {
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: document ? undefined : `${origin}/register`,
    code_challenge_methods_supported: ["S256"],
    ...document,
    issuer,
  };
}
