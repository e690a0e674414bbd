/**
 * The options of signing in.
 *
 * @module
 */
import type { GuardedFetch } from "../egress/guarded_fetch.ts";
import type { Clock, Fetch, Logger, Random, Resolve, Store } from "../ports.ts";
import type { PendingAuthorization } from "../protocol/errors.ts";
import type { Dpop, Grant, OAuthClient } from "./seam.ts";

export type { PendingAuthorization } from "../protocol/errors.ts";

/** A sign-in that a person goes on with: where to go, and how to come back. */
export interface AuthorizationRequest {
  /** Where the person signs in. Secret: it holds the state. */
  readonly authorizationUrl: string;
  /** What the sign-in is for, without secrets. */
  readonly pending: PendingAuthorization;
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined;
}

/** What a client says of itself when it registers (RFC 7591): `client_name`, `client_uri`, `logo_uri`, … */
export interface ClientMetadata {
  /** The name that people see. */
  readonly client_name?: string;
  /** What else RFC 7591 knows. */
  readonly [field: string]: unknown;
}

/**
 * Finds the metadata of an authorization server (RFC 8414) where the MCP server has none of its own.
 *
 * @param origin The origin of the MCP server.
 */
export type DiscoveryFallback = (origin: string, fetch: GuardedFetch) => Promise<Readonly<Record<string, unknown>>>;

/** An authorization server, as a program knows it. */
export interface KnownAuthorizationServer {
  /** Its metadata (RFC 8414). */
  readonly metadata: Readonly<Record<string, unknown>> & { readonly issuer: string };
  /** What tokens are asked for, as `resource` (RFC 8707). Without it none is sent. */
  readonly resource?: string | undefined;
  /** The scopes to ask for where the server names none (none). */
  readonly scopes?: readonly string[] | undefined;
}

/**
 * Finds the authorization server of an MCP server in the program's own way. Where it gives nothing, that of the specification is taken.
 *
 * @param server The URL of the MCP server.
 */
export type ServerDiscovery = (
  server: string,
  fetch: GuardedFetch,
) => KnownAuthorizationServer | undefined | Promise<KnownAuthorizationServer | undefined>;

/** Options of {@linkcode createOAuth}. */
export interface OAuthOptions {
  /**
   * Where the authorization server sends the person back to: https, a scheme of your own, or http on this machine. Needed to
   * sign a person in.
   */
  redirectUri?: string | undefined;
  /** Clients that authorization servers know already. */
  client?: OAuthClient | readonly OAuthClient[] | undefined;
  /** The https URL of a client ID metadata document that you host: the client's id, where the server supports it. */
  clientMetadataUrl?: string | undefined;
  /** What a registration says beside what is needed. */
  clientMetadata?: ClientMetadata | undefined;
  /**
   * Issuers that you know to be right, where a server names itself by another one than a resource does: Google's and others with and
   * without a slash at its end, or a path. They have to be of the same origin. The `issuer` of a `client` counts as well.
   */
  issuers?: readonly string[] | undefined;
  /** Scopes to ask for beside those that the server names. */
  scopes?: readonly string[] | undefined;
  /** Asks for `offline_access` where the authorization server lists it (true). */
  offlineAccess?: boolean | undefined;
  /** Gets tokens in another way than by a browser. */
  grant?: Grant | undefined;
  /** Binds tokens to a key, from `createDpop`. */
  dpop?: Dpop | undefined;
  /**
   * Brings a person to `authorizationUrl`, and resolves to the URL that they came back to. Without it, what needs a person
   * rejects with an `AuthorizationRequiredError`.
   */
  authorize?: ((request: AuthorizationRequest) => Promise<string | URL>) | undefined;
  /** Where sign-ins, clients and tokens are kept. Default: in memory. */
  store?: Store | undefined;
  /** Whose records they are: all of them are kept apart for each tenant (""). */
  tenant?: string | undefined;
  /** For whom one signs in: sign-ins and tokens are kept apart for each subject of a tenant (""). */
  subject?: string | undefined;
  /** Binds sign-ins to something that only this person's browser has, such as the id of a session cookie. */
  session?: string | undefined;
  /** Finds authorization servers of MCP servers without resource metadata: `legacyDiscovery` for those of 2025-03-26. */
  fallback?: DiscoveryFallback | undefined;
  /**
   * What you know of authorization servers that do not say all that they have to, or say otherwise, such as Microsoft Entra ID and
   * Amazon Cognito: `knownServers` makes it. It stands above what the MCP server says.
   */
  discover?: ServerDiscovery | undefined;
  /** How often one operation may ask for more scopes before its refusal stands (2). */
  stepUps?: number | undefined;
  /** Sends requests to authorization servers. Default: the runtime's `fetch`. */
  fetch?: Fetch | undefined;
  /**
   * Resolves names, so that their addresses are judged as well: Node, Bun and Deno have one (`resolve` of their entry). Default:
   * that of the `connect` which it is the `auth` of, where it has one.
   */
  resolve?: Resolve | undefined;
  /** Origins that may be asked beside the server's own and public https: in an intranet. Default: none. */
  allow?: readonly string[] | undefined;
  /** How long one request to an authorization server may take, in milliseconds (10,000). */
  timeout?: number | undefined;
  /** Time. Default: the runtime's. */
  clock?: Clock | undefined;
  /** Chance. Default: the runtime's. */
  random?: Random | undefined;
  /** Takes log lines: no secret is ever in them. */
  logger?: Logger | undefined;
}
