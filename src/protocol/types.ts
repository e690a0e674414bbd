/**
 * What the verbs take and give: the objects of MCP, as the union of its five revisions. Fields that only some revisions
 * know are optional. Types only: the shapes of what comes in are checked by `shapes/`.
 *
 * @module
 */
export type { JsonObject, JsonValue, RequestId } from "./json_rpc.ts";
export type {
  Annotations,
  CacheHints,
  Cursor,
  Icon,
  JsonSchema,
  ListResult,
  LoggingLevel,
  Meta,
  PaginatedRequest,
  ProgressToken,
  RequestMeta,
  Result,
  Role,
} from "./types/basics.ts";
export type {
  ClientCapabilities,
  DiscoverResult,
  Implementation,
  InitializeRequest,
  InitializeResult,
  ServerCapabilities,
} from "./types/peers.ts";
export type { CallToolRequest, CallToolResult, ListToolsResult, Tool, ToolAnnotations } from "./types/tools.ts";
export type {
  AudioContent,
  ContentBlock,
  EmbeddedResource,
  ImageContent,
  ResourceLink,
  TextContent,
} from "./types/content.ts";
export type {
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceRequest,
  ReadResourceResult,
  Resource,
  ResourceContents,
  ResourceTemplate,
} from "./types/resources.ts";
export type {
  CompleteRequest,
  CompleteResult,
  CompletionReference,
  GetPromptRequest,
  GetPromptResult,
  ListPromptsResult,
  Prompt,
  PromptArgument,
  PromptMessage,
} from "./types/prompts.ts";
export type { InputRequest, InputRequiredResult, InputResponses, PendingInput } from "./types/input.ts";
export type { CreateTaskResult, ListTasksResult, Task, TaskMetadata, TaskStatus } from "./types/tasks.ts";
export type {
  CancelledNotification,
  Change,
  ListenFilter,
  LogMessage,
  Progress,
  ProgressNotification,
} from "./types/notices.ts";
export type { ElicitationField, ElicitRequest, ElicitResult, TitledValue } from "./types/elicitation.ts";
export type {
  CreateMessageRequest,
  CreateMessageResult,
  ModelPreferences,
  SamplingContent,
  SamplingMessage,
  ToolChoice,
  ToolResultContent,
  ToolUseContent,
} from "./types/sampling.ts";
export type { ListRootsResult, Root } from "./types/roots.ts";
