/**
 * Being a server: {@linkcode McpServer} holds what an author offers; it is served over HTTP and pipes in every revision
 * of the protocol.
 *
 * @module
 */
export { McpServer } from "./server.ts";
export { ToolServer } from "./tool_server.ts";
export { createHandler, createModernHandler } from "./http/mod.ts";
export type {
  Authenticate,
  Handler,
  HandlerOptions,
  HttpOptions,
  ModernHandlerOptions,
  SessionOptions,
  SessionStore,
} from "./http/mod.ts";
export { perCaller } from "./callers/mod.ts";
export type { Caller, CallerServers } from "./callers/mod.ts";
export { createSingleUseSealer } from "./common/single_use.ts";
export type { SingleUseOptions } from "./common/single_use.ts";
export { createSessionStore } from "./sessions/mod.ts";
export type { SessionStoreOptions } from "./sessions/mod.ts";
export { serveChannel } from "./channel_server.ts";
export type { ChannelServer, ChannelServerOptions } from "./channel_server.ts";
export { protectResource } from "./auth/protect.ts";
export type { ProtectedResource, ProtectOptions } from "./auth/options.ts";
export type { TokenClaims, VerifyToken } from "../ports.ts";
export type { PartsOptions } from "./parts.ts";
export type { Servable, ServingOptions } from "./serving.ts";
export { createSocketChannel } from "./websocket/channel.ts";
export type { SocketChannelOptions } from "./websocket/channel.ts";
export { createSocketEndpoint } from "./websocket/endpoint.ts";
export type { AcceptSocket, SocketEndpoint, SocketEndpointOptions } from "./websocket/endpoint.ts";
export { createMemoryTaskStore, createTasks, createTaskStore, TaskStoreFullError } from "./tasks/mod.ts";
export type {
  MemoryTaskStoreOptions,
  TaskPage,
  TaskRecord,
  TasksOptions,
  TaskStore,
  TaskStoreOptions,
} from "./tasks/mod.ts";
export { withSkills } from "./skills/mod.ts";
export type { SkillFile, SkillOptions, SkillServer, SkillsOptions } from "./skills/mod.ts";
export { createStateSealer } from "./state.ts";
export type { StateSealerOptions } from "./state.ts";
export type { ServerOptions } from "./tool_server.ts";
export type {
  AnySchema,
  AskOptions,
  AuthInfo,
  Checked,
  Completer,
  ConstantItem,
  ConstantJson,
  ForeignJsonSchema,
  ForeignPart,
  PromptArgumentOptions,
  PromptHandler,
  PromptOptions,
  RequestContext,
  ResourceHandler,
  ResourceOptions,
  ResourceReturn,
  StandardIssue,
  StandardResult,
  StandardSchema,
  TemplateHandler,
  TemplateOptions,
  ToolHandler,
  ToolOptions,
  ToolReturn,
} from "./definitions.ts";
export type { Kind, Kinds } from "./catalog/kind.ts";
export type { Methods, ServerChange, StateSealer, TaskSupport, TaskTerms } from "./seam.ts";
export type { Logger, Store } from "../ports.ts";
export type { JsonObject, JsonValue } from "../protocol/types.ts";
export type { Channel } from "../transport/channel.ts";
