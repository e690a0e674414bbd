/**
 * Signing in to MCP servers, for clients: `createOAuth` is the `auth` of `connect`. And verifying access tokens, for servers: with
 * the keys of an authorization server, or by asking it; what protects a server with them is `protectResource` of
 * `@causeway/mcp/server`.
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
export type { Authorizer, Fetch, Resolve, Store, TokenClaims } from "../ports.ts";
export { createOAuth } from "./oauth.ts";
export type { OAuth, SignInOptions, SignInStatus } from "./oauth.ts";
export { clientMetadataDocument } from "./client_document.ts";
export type { ClientDocumentOptions, ClientMetadataDocument } from "./client_document.ts";
export { knownServers } from "./discovery/known_servers.ts";
export type { KnownServer } from "./discovery/known_servers.ts";
export { legacyDiscovery } from "./discovery/legacy_discovery.ts";
export type {
  AuthorizationRequest,
  ClientMetadata,
  DiscoveryFallback,
  KnownAuthorizationServer,
  OAuthOptions,
  PendingAuthorization,
  ServerDiscovery,
} from "./options.ts";
export type * from "./seam.ts";
export { createDpop } from "./dpop.ts";
export type { DpopAlgorithm, DpopOptions } from "./dpop.ts";
export { clientCredentials } from "./grants/client_credentials.ts";
export { configuredGrant } from "./grants/configured.ts";
export type { ConfiguredProgram } from "./grants/configured.ts";
export { deviceCode } from "./grants/device_code.ts";
export type { DeviceCodeOptions, DeviceCodePrompt } from "./grants/device_code.ts";
export { enterpriseAuthorization } from "./grants/enterprise_authorization.ts";
export type { EnterpriseAuthorizationOptions, SubjectTokenRequest } from "./grants/enterprise_authorization.ts";
export type { IdentityProvider } from "./grants/token_exchange.ts";
export type { TokenSource } from "./grants/given_token.ts";
export { privateKeyJwt } from "./grants/private_key_jwt.ts";
export type { PrivateKeyJwtOptions } from "./grants/private_key_jwt.ts";
export type { PrivateJwk, SigningAlgorithm, WebCryptoKey } from "./grants/private_key.ts";
export { workloadIdentity } from "./grants/workload_identity.ts";
export type { AssertionRequest, WorkloadIdentityOptions } from "./grants/workload_identity.ts";
export type { FetchedDocument, GuardedFetch, GuardedRequest } from "../egress/guarded_fetch.ts";
export { createMemoryStore } from "./stores/memory.ts";
export type { MemoryStoreOptions } from "./stores/memory.ts";
export { createSealedStore } from "./stores/sealed.ts";
export type { SealedStoreOptions } from "./stores/sealed.ts";
