/**
 * What the ways of getting a token have in common: what they are told, and what they bring back.
 *
 * @module
 */
import type { GuardedFetch } from "../egress/guarded_fetch.ts";
import type { Clock, Random } from "../ports.ts";

/** An authorization server, as its metadata tells (RFC 8414): what is used of it is checked. */
export interface ServerMetadata {
  /** Its issuer, letter by letter. */
  readonly issuer: string;
  /** Where a person signs in. */
  readonly authorization_endpoint?: string;
  /** Where tokens are given. */
  readonly token_endpoint?: string;
  /** Where clients register (RFC 7591). */
  readonly registration_endpoint?: string;
  /** Where tokens are withdrawn (RFC 7009). */
  readonly revocation_endpoint?: string;
  /** Where a device asks for a code (RFC 8628). */
  readonly device_authorization_endpoint?: string;
  /** Scopes that it knows. */
  readonly scopes_supported?: readonly string[];
  /** The ways of PKCE (RFC 7636): `S256` is needed for a person. */
  readonly code_challenge_methods_supported?: readonly string[];
  /** How clients may authenticate. */
  readonly token_endpoint_auth_methods_supported?: readonly string[];
  /** Ways of getting a token. */
  readonly grant_types_supported?: readonly string[];
  /** Profiles of assertions, such as that of ID-JAG. */
  readonly authorization_grant_profiles_supported?: readonly string[];
  /** Whether the id of a client may be the URL of its document. */
  readonly client_id_metadata_document_supported?: boolean;
  /** Whether it names itself in callbacks (RFC 9207). */
  readonly authorization_response_iss_parameter_supported?: boolean;
  /** Algorithms of proofs (RFC 9449). */
  readonly dpop_signing_alg_values_supported?: readonly string[];
}

/**
 * Authenticates a client at the token endpoint: adds to the body or the headers. What oauth4webapi makes (`PrivateKeyJwt`,
 * `ClientSecretBasic`) fits.
 */
export type ClientAuthentication = (
  server: { readonly issuer: string },
  client: { readonly client_id: string },
  body: URLSearchParams,
  headers: Headers,
) => void | Promise<void>;

/** How a client that has a secret shows it. */
export type ClientAuthMethod = "none" | "client_secret_basic" | "client_secret_post";

/** A client that the authorization server knows already. */
export interface OAuthClient {
  /** Its id (`client_id`). */
  readonly clientId: string;
  /** Its secret, where it has one. */
  readonly clientSecret?: string | undefined;
  /** The issuer that knows it. Without one it belongs to the first that it is used with, for good. */
  readonly issuer?: string | undefined;
  /** How it authenticates. Default: what the server supports, `client_secret_basic` first. */
  readonly authMethod?: ClientAuthMethod | undefined;
  /** Authenticates in another way, such as `privateKeyJwt`. */
  readonly authenticate?: ClientAuthentication | undefined;
}

/** What a token endpoint gave, checked. Secret. */
export interface TokenResponse {
  /** The access token. */
  readonly accessToken: string;
  /** As what it is sent. */
  readonly tokenType: "bearer" | "dpop";
  /** What gets the next one, where the server gives it. */
  readonly refreshToken?: string | undefined;
  /** Seconds for which it is good, where the server tells. */
  readonly expiresIn?: number | undefined;
  /** What it allows, where the server tells: it may be less than was asked for. */
  readonly scopes?: readonly string[] | undefined;
}

/** The endpoints that take a form of a client. */
export type FormEndpoint = "token_endpoint" | "revocation_endpoint" | "device_authorization_endpoint";

/** What a grant is told, and can use. */
export interface GrantContext {
  /** The authorization server. */
  readonly metadata: ServerMetadata;
  /** What the token is for: the resource's own name for itself (RFC 8707). */
  readonly resource: string | undefined;
  /** The scopes to ask for; none: leave the choice to the server. */
  readonly scopes: readonly string[];
  /** Who asks. */
  readonly clientId: string;
  /**
   * Asks the token endpoint: client authentication, `resource`, `scope` and the proof of a key are added.
   *
   * @param grantType `grant_type`.
   * @param parameters What the grant needs beside it.
   * @throws {AuthorizationError} When the server refuses: `error` has its code.
   */
  request(grantType: string, parameters?: Readonly<Record<string, string>>): Promise<TokenResponse>;
  /**
   * Asks another endpoint of the authorization server as this client: a form goes there, a JSON object comes back.
   *
   * @throws {AuthorizationError} When the server refuses: `error` has its code.
   */
  post(endpoint: FormEndpoint, parameters: Readonly<Record<string, string>>): Promise<Record<string, unknown>>;
  /** The guarded way to other servers, such as an identity provider. */
  readonly fetch: GuardedFetch;
  /** Makes a secret known to the redactor. */
  secret(value: string): void;
  /** Gives up. */
  readonly signal: AbortSignal;
  /** Time. */
  readonly clock: Clock;
  /** Chance. */
  readonly random: Random;
}

/** Gets tokens without a browser: the `grant` of `createOAuth`. */
export interface Grant {
  /** Who asks. Without one: as for a person, the client that is known, named by URL, or registered. */
  readonly client?: OAuthClient | undefined;
  /** Grant types that a registration has to name. */
  readonly grantTypes: readonly string[];
  /** Origins that the operator gave beside the server, such as that of an identity provider: they are asked as given. */
  readonly allow?: readonly string[] | undefined;
  /** Whether a person has to do something: then it is not begun without being asked for. Default: false. */
  readonly isInteractive?: boolean | undefined;
  /** Gets a token. */
  obtain(context: GrantContext): Promise<TokenResponse>;
}

/** Binds tokens to a key (RFC 9449): the `dpop` of `createOAuth`. */
export interface Dpop {
  /**
   * Opens a key.
   *
   * @param kept What `kept` of an earlier one was. Without it a new key is made.
   */
  open(kept?: string): Promise<DpopKey>;
}

/** What oauth4webapi makes of a key, and takes with its requests. */
export interface DpopHandle {
  /** The thumbprint of the public key (RFC 7638): `dpop_jkt` of an authorization request. */
  calculateThumbprint(): Promise<string>;
}

/** A key that proves whose a token is. */
export interface DpopKey {
  /** The key as text, to be kept. Secret. */
  readonly kept: string;
  /** The key's own. */
  readonly handle: DpopHandle;
  /**
   * Sends a request to the authorization server: `send` is given its proof, with the last nonce of its origin. That of the reply is
   * remembered.
   */
  post(url: string, send: (proof: string) => Promise<Response>): Promise<Response>;
  /** The proof for one request to the resource, with the last nonce of its origin. */
  prove(request: { readonly url: string; readonly method: string; readonly accessToken: string }): Promise<string>;
  /**
   * Remembers the nonce of a reply. True when the reply refuses a proof for want of that nonce: once more is worth it, and no
   * more than once for a request.
   *
   * @param proof What was sent: a nonce that it had already is not worth it.
   */
  learn(url: string, response: Response, proof?: string): boolean;
}
