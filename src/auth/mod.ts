/**
 * Verifying access tokens, for servers: with the keys of an authorization server, or by asking it. What protects a server with
 * them is `protectResource` of `@causeway/mcp/server`.
 *
 * @module
 */
export { createJwtVerifier } from "./jwt.ts";
export type { JwtVerifier, JwtVerifierOptions } from "./jwt.ts";
export { createIntrospectionVerifier } from "./introspection.ts";
export type { IntrospectionVerifierOptions } from "./introspection.ts";
export type { VerifierOptions } from "./options.ts";
export type { TokenClaims } from "../ports.ts";
