/**
 * One MCP server, of whichever revision, in the smallest bundle: `connect` gives a {@linkcode CoreClient} that speaks HTTP
 * and calls tools. Everything else is passed in where it is wanted; {@linkcode Client} has all verbs, and `@causeway/mcp`
 * has everything filled in.
 *
 * @module
 */
export { connect } from "./connect.ts";
export type { CoreConnectOptions } from "./connect.ts";
export { Client } from "./client.ts";
export { CoreClient } from "./core_client.ts";
export type { CoreClientOptions } from "./core_client.ts";
export type { ClientOptions, Middleware, RequestHandler } from "./options.ts";
export type { RequestOptions } from "./session/request.ts";
export type { ClientRequest, ResumedInput, ServerInfo, SessionRequestOptions } from "./session/request.ts";
export type { Verdict } from "./negotiate.ts";
export type { RetryOptions } from "./retry.ts";
export { isSnapshot } from "./snapshot.ts";
export type { Snapshot } from "./snapshot.ts";
export { checkOutputs } from "./extras/check_outputs.ts";
export { allFeatures, cacheFeature, inputFeature, listenFeature, listFeature, mirrorFeature } from "./features.ts";
export type { Features } from "./features.ts";
export type { CacheFeature, ResultCache } from "./cache.ts";
export type { ListFeature, ListOptions, Mirror, MirrorFeature } from "./tools.ts";
export type { ListenFeature, Subscription } from "./listen/seam.ts";
export type { PipeFeature } from "./negotiate.ts";
export type { InputAnswers, InputFeature } from "./input/seam.ts";
export type { ElicitationHandler, HandlerContext, Handlers, PendingInput, SamplingHandler } from "./input/seam.ts";
export type { TaskHandle, TaskHost, TaskOptions, TaskRunner, TaskSupport } from "./task_support.ts";
export { taskSupport } from "./tasks/tasks.ts";
export { phaseOf, telemetry } from "./telemetry/telemetry.ts";
export type {
  ErrorPhase,
  RequestTrace,
  TelemetryEvent,
  TelemetryOptions,
  TraceContext,
} from "./telemetry/telemetry.ts";
export { skillsOf } from "./skills/mod.ts";
export type * from "./skills/mod.ts";
// What the verbs take and give, so that who imports nothing else can name it: compilers want that for declarations.
export type {
  CallToolResult,
  Change,
  ClientCapabilities,
  CompleteResult,
  CompletionReference,
  GetPromptResult,
  JsonObject,
  JsonValue,
  ListenFilter,
  ListPromptsResult,
  ListResourcesResult,
  ListResourceTemplatesResult,
  ListToolsResult,
  LoggingLevel,
  ReadResourceResult,
  Task,
  Tool,
} from "../protocol/types.ts";
export type { Limits } from "../protocol/limits.ts";
export type { Era, Revision } from "../protocol/revisions.ts";
export type { Clock, Logger } from "../ports.ts";
