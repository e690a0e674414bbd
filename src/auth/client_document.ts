/**
 * What a client says of itself at the URL that is its id (specification: Client ID Metadata Documents).
 *
 * @module
 */
import { isTexts } from "../protocol/json_rpc.ts";
import { checkOptions } from "./check_options.ts";
import type { ClientMetadata, OAuthOptions } from "./options.ts";

/** What {@linkcode clientMetadataDocument} reads: the options of `createOAuth` fit. */
export type ClientDocumentOptions = Pick<
  OAuthOptions,
  "clientMetadataUrl" | "redirectUri" | "clientMetadata" | "grant"
>;

/** The document: plain JSON, for everybody to read. */
export interface ClientMetadataDocument extends ClientMetadata {
  /** The URL where it is served, letter by letter. */
  readonly client_id: string;
  /** The name that people see. */
  readonly client_name: string;
  /** Where people may be sent back to. */
  readonly redirect_uris: readonly string[];
  /** Ways of getting a token. */
  readonly grant_types: readonly string[];
  /** What a person comes back with. */
  readonly response_types: readonly string[];
  /** How the client authenticates: `none`, or `private_key_jwt`. */
  readonly token_endpoint_auth_method: string;
}

/**
 * Makes the document that an application serves at its `clientMetadataUrl`: authorization servers read there who it is, so
 * that it has to register with none of them. What `clientMetadata` says is laid over what is usual.
 *
 * @param options The same as for `createOAuth`: `clientMetadataUrl`, `redirectUri` and a `client_name` are needed.
 * @throws {TypeError} When one of these is missing, or the document would say what such documents must not: a secret, a private
 * key, redirect URIs without `redirectUri`.
 *
 * @example A page of the application
 * ```ts
 * import { clientMetadataDocument, createOAuth } from "@causeway/mcp/auth";
 *
 * const options = {
 *   clientMetadataUrl: "https://app.example.com/client.json",
 *   redirectUri: "https://app.example.com/callback",
 *   clientMetadata: { client_name: "Example" },
 * };
 * const oauth = createOAuth(options);
 * const response = Response.json(clientMetadataDocument(options));
 * if ((await response.json()).client_id !== options.clientMetadataUrl) throw new Error("it is somebody else's");
 * ```
 *
 * @see https://modelcontextprotocol.io/specification/draft/basic/authorization
 */
export function clientMetadataDocument(options: ClientDocumentOptions): ClientMetadataDocument {
  checkOptions(options);
  const { clientMetadataUrl, redirectUri, clientMetadata = {}, grant } = options;
  const fail = (expected: string) => new TypeError(`Cannot make the document of a client: expected ${expected}`);
  if (clientMetadataUrl === undefined) throw fail('"clientMetadataUrl", where it is served');
  if (redirectUri === undefined) throw fail('"redirectUri", where people come back to');
  const { client_name, redirect_uris = [redirectUri], token_endpoint_auth_method = "none" } = clientMetadata;
  if (typeof client_name !== "string" || client_name === "") throw fail('"clientMetadata" with a "client_name"');
  if (!isTexts(redirect_uris) || !redirect_uris.includes(redirectUri)) {
    throw fail('"redirect_uris" with the "redirectUri" among them');
  }
  if (token_endpoint_auth_method !== "none" && token_endpoint_auth_method !== "private_key_jwt") {
    throw fail('"none" or "private_key_jwt" as "token_endpoint_auth_method": it has no secret');
  }
  if (Object.keys(clientMetadata).some((field) => field.startsWith("client_secret")) || hasPrivateKey(clientMetadata)) {
    throw fail("neither a secret nor a private key in it: everybody can read it");
  }
  return {
    grant_types: [...new Set([...grant?.grantTypes ?? ["authorization_code"], "refresh_token"])],
    response_types: ["code"],
    ...clientMetadata,
    client_id: clientMetadataUrl,
    client_name,
    redirect_uris: [...redirect_uris],
    token_endpoint_auth_method,
  };
}

/** Whether a key set holds what its owner alone may have: `d` of a key pair, or `k`, a shared key (RFC 7518). */
function hasPrivateKey({ jwks }: ClientMetadata): boolean {
  return jwks !== undefined && /"(d|k)":/.test(JSON.stringify(jwks));
}
