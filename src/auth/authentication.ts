/**
 * How clients authenticate.
 *
 * @module
 */
import type { ClientAuthentication, OAuthClient } from "./seam.ts";

/**
 * The way in which a client authenticates: as it says, else as the server supports it, `client_secret_basic` first.
 *
 * @param supported What the server supports, where it tells.
 */
export function authenticationOf(client: OAuthClient, supported?: unknown): ClientAuthentication {
  const { clientSecret, authMethod, authenticate } = client;
  if (authenticate) return authenticate;
  const methods: unknown[] = Array.isArray(supported) ? supported : [];
  const isPosted = methods.includes("client_secret_post") && !methods.includes("client_secret_basic");
  const method = clientSecret ? authMethod ?? (isPosted ? "client_secret_post" : "client_secret_basic") : "none";
  return (_server, client, body, headers) => {
    if (method === "client_secret_basic") {
      headers.set("authorization", `Basic ${btoa(`${encode(client.client_id)}:${encode(clientSecret)}`)}`);
    } else {
      body.set("client_id", client.client_id);
      if (clientSecret && method !== "none") body.set("client_secret", clientSecret);
    }
  };
}

/**
 * The form encoding that RFC 6749, section 2.3.1, asks for, and no more than it: a library's writes "-" and "_" as "%2D" and "%5F"
 * too, which servers that do not decode (there are many) take for another name.
 */
function encode(text = ""): string {
  return new URLSearchParams({ "": text }).toString().slice(1);
}
