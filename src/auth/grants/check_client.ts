/**
 * What a caller says of a client.
 *
 * @module
 */
import type { OAuthClient } from "../seam.ts";
import { readUrl } from "../../egress/url.ts";

/**
 * Checks what a caller says of a client.
 *
 * @param where What the caller gave it to.
 * @throws {TypeError} When a field is of a wrong type. It shows no value.
 */
export function checkClient(client: OAuthClient, where: string): void {
  const { clientId, clientSecret, authenticate, authMethod, issuer }: Readonly<Record<keyof OAuthClient, unknown>> = {
    issuer: undefined,
    clientSecret: undefined,
    authenticate: undefined,
    authMethod: undefined,
    ...client,
  };
  const refuse = (field: string, wanted: string): never => {
    throw new TypeError(`Cannot use "${where}": expected "${field}" to be ${wanted}`);
  };
  if (typeof clientId !== "string" || !clientId) refuse("clientId", "a text that is not empty");
  if (clientSecret !== undefined && (typeof clientSecret !== "string" || !clientSecret)) {
    refuse("clientSecret", "a text that is not empty");
  }
  if (issuer !== undefined && (typeof issuer !== "string" || !readUrl(issuer))) refuse("issuer", "a URL");
  if (authenticate !== undefined && typeof authenticate !== "function") {
    refuse("authenticate", 'a function, such as one of "privateKeyJwt"');
  }
  if (authMethod !== undefined && !["none", "client_secret_basic", "client_secret_post"].includes(String(authMethod))) {
    refuse("authMethod", '"none", "client_secret_basic" or "client_secret_post"');
  }
}
