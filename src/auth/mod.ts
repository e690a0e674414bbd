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
export { createMemoryStore } from "./stores/memory.ts";
export type { MemoryStoreOptions } from "./stores/memory.ts";
export { createSealedStore } from "./stores/sealed.ts";
export type { SealedStoreOptions } from "./stores/sealed.ts";
