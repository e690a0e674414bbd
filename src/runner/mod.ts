/**
 * The runner: MCP servers of tenants by plain HTTP, agents as runs and as models, the gateway, and who may do what, in one Hono
 * application that a Worker exports and `serveHttp` serves.
 *
 * @module
 */
export { createRunner } from "./runner.ts";
export type { Runner, RunnerApp } from "./runner.ts";
export type { RunnerOptions } from "./options.ts";
export type { AgentParts, OfferedAgent } from "./parts.ts";
export { createMcpApp } from "./mcp_app.ts";
export type { McpApp, McpAppOptions } from "./mcp_app.ts";
export { createPolicy } from "./access/policy.ts";
export type { AccessRule } from "./access/policy.ts";
export { createApiKey, createKeyList, createKeyStore, hashApiKey } from "./access/keys.ts";
export type { ApiKeyRecord, KeyStore, NewApiKey, StoredKeys } from "./access/keys.ts";
export { createSessions } from "./access/sessions.ts";
export { createSealedSessions } from "./access/sealed_sessions.ts";
export type { SealedSessionOptions } from "./access/sealed_sessions.ts";
export type {
  BrowserSession,
  BrowserSessionOptions,
  BrowserSessions,
  SessionKeeper,
  SessionPrincipal,
} from "./access/sessions.ts";
export { createAccessCheck, objectName, signAccess } from "./access/envelope.ts";
export type { AccessCheck, AccessEnvelope, EnvelopeOptions } from "./access/envelope.ts";
export { createHandedOver, handOver, tenantOfHandedOver } from "./access/handoff.ts";
export type { HandedOverCall } from "./access/handoff.ts";
export type { DirectCall, ForwardCall } from "./tenants/forwarding.ts";
export { scopeHub } from "./access/scoped_hub.ts";
export type { ScopedHub } from "./access/scoped_hub.ts";
export { createJudge } from "./access/access.ts";
export type { AccessOptions, Caller, Decision, Judge, JudgeOptions } from "./access/access.ts";
export { denyAll } from "./access/policy.ts";
export { nameIn, principalOf } from "./access/types.ts";
export type * from "./access/types.ts";
export { createDashboard } from "./dashboard/mod.ts";
export { createStrictFetch } from "./tenants/strict_fetch.ts";
export type { StrictFetchOptions } from "./tenants/strict_fetch.ts";
export type { Lease, TenantHub } from "./tenants/hub_pool.ts";
export type { Allowance, QuotaOptions, TenantQuotas } from "./tenants/quotas.ts";
export type { RunnerSockets } from "./routes/gateway.ts";
export { Refusal } from "./rest/problem.ts";
export type { RefusalOptions } from "./rest/problem.ts";
export type { Route, RoutePolicy, RouteReply } from "./rest/route.ts";
export type { QueryParameter, RouteInput } from "./rest/route_input.ts";
export type { Call } from "./rest/call.ts";
// What these take and give, so that who imports nothing else can name it: compilers want that for declarations.
export type { FindAgent } from "../agent/runs/options.ts";
export type { Client } from "../client/client.ts";
export type { RequestOptions } from "../client/session/request.ts";
export type * from "../hub/seam.ts";
export type { Fetch, Store } from "../ports.ts";
export type {
  CallToolResult,
  CompleteResult,
  GetPromptResult,
  JsonObject,
  JsonValue,
  ReadResourceResult,
} from "../protocol/types.ts";
