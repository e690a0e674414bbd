/**
 * Verifying access tokens, for servers: with the keys of an authorization server, or by asking it. What protects a server with
 * them is `protectResource` of `@causeway/mcp/server`.
 *
 * @module
 */
export { bearerAuth, headerAuth } from "./static.ts";
export type { Credential } from "./static.ts";
export { createJwtVerifier } from "./verify/jwt.ts";
export type { JwtVerifier, JwtVerifierOptions } from "./verify/jwt.ts";
export { createIntrospectionVerifier } from "./verify/introspection.ts";
export type { IntrospectionVerifierOptions } from "./verify/introspection.ts";
export type { VerifierOptions } from "./verify/options.ts";
export type { Authorizer, TokenClaims } from "../ports.ts";
