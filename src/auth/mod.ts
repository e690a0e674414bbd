/**
 * Verifying access tokens, for servers: with the keys of an authorization server, or by asking it. What protects a server with
 * them is `protectResource` of `@causeway/mcp/server`.
 *
 * @module
 */
export { createJwtVerifier } from "./verify/jwt.ts";
export type { JwtVerifier, JwtVerifierOptions } from "./verify/jwt.ts";
export { createIntrospectionVerifier } from "./verify/introspection.ts";
export type { IntrospectionVerifierOptions } from "./verify/introspection.ts";
export type { VerifierOptions } from "./verify/options.ts";
export type { TokenClaims } from "../ports.ts";
export { createOAuth } from "./oauth.ts";
export type { OAuth, SignInOptions, SignInStatus } from "./oauth.ts";
export { createMemoryStore } from "./stores/memory.ts";
export type { AuthorizationRequest, ClientMetadata, OAuthOptions, PendingAuthorization } from "./options.ts";
export type * from "./seam.ts";
export { createDpop } from "./dpop.ts";
export type { DpopAlgorithm, DpopOptions } from "./dpop.ts";
