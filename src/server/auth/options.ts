/**
 * What a protected resource is told.
 *
 * @module
 */
import type { Clock, Logger, TokenClaims, VerifyToken } from "../../ports.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { AuthInfo } from "../definitions.ts";
import type { Authenticate } from "../http/options.ts";

/** Options of {@linkcode protectResource}. */
export interface ProtectOptions {
  /**
   * The URL that clients know the endpoint by, as the one in front of all proxies: `https://mcp.example.com/mcp`. Tokens have
   * to be meant for it, and it says where the metadata is. It is never taken from a request.
   */
  resource: string;
  /** The issuers whose tokens are taken, as their tokens and metadata write themselves. At least one. */
  authorizationServers: readonly string[];
  /** Verifies a token: `createJwtVerifier` or `createIntrospectionVerifier` of `@causeway/mcp/auth`, or your own. */
  verify: VerifyToken;
  /**
   * What a token may be meant for. Default: `resource` alone. Names that an authorization server gave it are written here. `false`:
   * audiences are not looked at, because `verify` does it.
   */
  audience?: string | readonly string[] | false | undefined;
  /** The scopes that every request needs. Default: none. */
  requiredScopes?: readonly string[] | undefined;
  /** The scopes that a client can ask for, for the metadata. Default: `requiredScopes`. */
  scopesSupported?: readonly string[] | undefined;
  /** Whether a scope that was granted stands for one that is wanted, beside itself: `admin` for `read`. Default: it does not. */
  includes?: ((granted: string, wanted: string) => boolean) | undefined;
  /** The name that people are shown. */
  resourceName?: string | undefined;
  /** A page for developers. */
  resourceDocumentation?: string | undefined;
  /** Further fields of the metadata, by their names in RFC 9728, section 2. */
  metadata?: JsonObject | undefined;
  /**
   * Names the caller, as `auth.principal`: what sessions, tasks and state are bound to. Default: `issuer#subject`, or the subject
   * where the claims name no issuer, as they may do for a single authorization server alone.
   */
  principal?: ((claims: TokenClaims) => string) | undefined;
  /** How far the issuer's clock may be off, in milliseconds (5,000). */
  clockTolerance?: number | undefined;
  /** Time. Default: the runtime's. */
  clock?: Clock | undefined;
  /** Takes the operator's log lines; no token is ever in them. Default: none. */
  logger?: Logger | undefined;
}

/** A protected resource: the `auth` of every endpoint that serves it. */
export interface ProtectedResource extends Authenticate {
  /** The caller, or the reply that sends it away; on `paths` the metadata, for anybody. Never rejects. */
  (request: Request): Promise<AuthInfo | Response>;
  /** The paths of the metadata: to be routed to the same handler. */
  readonly paths: readonly string[];
  /** Adds the challenge to the 403 of a handler that demanded scopes. */
  readonly complete: (response: Response, auth: AuthInfo | undefined) => Response;
  /**
   * Demands scopes within a handler, all that it needs at once: `resource.demand(context.auth, "files:write")`. Over HTTP the caller gets 403 with the
   * challenge that lets it ask for them (step-up), as long as nothing was sent before.
   *
   * @throws {InvalidRequestError} When the caller lacks one of them, or is not known. Let it through.
   */
  readonly demand: (auth: AuthInfo | undefined, ...scopes: string[]) => void;
  /** The metadata document (RFC 9728, section 2). */
  readonly metadata: Readonly<JsonObject>;
  /** Where clients find the metadata. */
  readonly metadataUrl: string;
}
