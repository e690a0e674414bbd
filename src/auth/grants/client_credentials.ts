/**
 * Tokens for a program that acts for itself (RFC 6749, section 4.4).
 *
 * @module
 */
import type { Grant, OAuthClient } from "../seam.ts";
import { checkClient } from "./check_client.ts";

/**
 * Gets tokens with the program's own credentials: the `grant` of `createOAuth`, where nobody signs in. The client has to be
 * known to the authorization server: it is never registered.
 *
 * @param client The client: `clientSecret`, or `authenticate` with what `privateKeyJwt` makes (recommended).
 * @throws {TypeError} When it has no id, or nothing to authenticate with.
 *
 * @example A secret
 * ```ts
 * import { clientCredentials } from "@causeway/mcp/auth";
 *
 * const grant = clientCredentials({ clientId: "nightly-report", clientSecret: "a secret from the environment" });
 * console.assert(grant.client?.clientId === "nightly-report");
 * ```
 *
 * @see https://modelcontextprotocol.io/extensions/auth/oauth-client-credentials
 */
export function clientCredentials(client: OAuthClient): Grant {
  checkClient(client, "clientCredentials");
  const { clientSecret, authenticate, authMethod } = client;
  if (!authenticate && (!clientSecret || authMethod === "none")) {
    throw new TypeError(
      'Cannot use "clientCredentials": expected "clientSecret" or "authenticate", a client without them is nobody',
    );
  }
  return {
    client: { ...client },
    grantTypes: ["client_credentials"],
    obtain: (context) => context.request("client_credentials"),
  };
}
