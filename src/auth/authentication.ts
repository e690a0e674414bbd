/**
 * How clients authenticate.
 *
 * @module
 */
import { ClientSecretPost, None } from "oauth4webapi";
import type { ClientAuthentication, OAuthClient } from "./seam.ts";

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
