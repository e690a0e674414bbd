/**
 * How clients of grants authenticate.
 *
 * @module
 */
import { ClientSecretPost, None } from "oauth4webapi";
import type { ClientAuthentication, OAuthClient } from "../seam.ts";

/**
 * The way in which a client authenticates: as it says, else as the server supports it, `client_secret_basic` first.
 *
 * @param supported What the server supports, where it tells.
 */
export function authenticationOf(client: OAuthClient, supported?: unknown): ClientAuthentication {
  const { clientSecret, authMethod, authenticate } = client;
  if (authenticate) return authenticate;
  if (!clientSecret || authMethod === "none") return None();
  const methods: unknown[] = Array.isArray(supported) ? supported : [];
  const isPosted = methods.includes("client_secret_post") && !methods.includes("client_secret_basic");
  const method = authMethod ?? (isPosted ? "client_secret_post" : "client_secret_basic");
  return method === "client_secret_post" ? ClientSecretPost(clientSecret) : basic(clientSecret);
}

/**
 * HTTP Basic with the form encoding that RFC 6749, section 2.3.1, asks for, and no more than it: the library's writes "-" and "_"
 * as "%2D" and "%5F" too, which servers that do not decode (there are many) take for another name.
 */
function basic(secret: string): ClientAuthentication {
  const encode = (text: string): string => new URLSearchParams({ "": text }).toString().slice(1);
  return (_server, client, _body, headers) => {
    headers.set("authorization", `Basic ${btoa(`${encode(client.client_id)}:${encode(secret)}`)}`);
  };
}

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
  if (issuer !== undefined && (typeof issuer !== "string" || !URL.canParse(issuer))) refuse("issuer", "a URL");
  if (authenticate !== undefined && typeof authenticate !== "function") {
    refuse("authenticate", 'a function, such as one of "privateKeyJwt"');
  }
  if (authMethod !== undefined && !["none", "client_secret_basic", "client_secret_post"].includes(String(authMethod))) {
    refuse("authMethod", '"none", "client_secret_basic" or "client_secret_post"');
  }
}
