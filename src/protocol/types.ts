/**
 * What the verbs take and give: the objects of MCP, as the union of its five revisions. Fields that only some revisions
 * know are optional. Types only: the shapes of what comes in are checked by `shapes.ts`.
 *
 * @module
 */
import type { JsonObject, JsonValue, RequestId } from "./json_rpc.ts";

/** Metadata of a request, result or object; keys with a prefix belong to whoever owns the prefix. */
export type Meta = JsonObject;

/** Who speaks in a message, and for whom content is meant. */
export type Role = "user" | "assistant";

/** Where a list goes on: opaque, also when it is empty. Only a missing one (or null) is the end. */
export type Cursor = string;

/** What names a request in its progress notices: a string or a safe integer, unique among the running requests. */
export type ProgressToken = RequestId;

/** The `_meta` of a modern request: all that a stateless server has to know (2026-07-28: basic, Per-request protocol fields). */
export interface RequestMeta extends Meta {
  "io.modelcontextprotocol/protocolVersion"?: string;
  "io.modelcontextprotocol/clientCapabilities"?: JsonObject;
  "io.modelcontextprotocol/clientInfo"?: JsonObject;
  /** Asks for log messages of this level and above; without it there are none. */
  "io.modelcontextprotocol/logLevel"?: LoggingLevel;
  progressToken?: ProgressToken;
  traceparent?: string;
  tracestate?: string;
  baggage?: string;
}

/** A picture for a server, tool, prompt or resource. Untrusted: see the specification's rules for icons. */
export interface Icon {
  src: string;
  mimeType?: string;
  sizes?: string[];
  theme?: "light" | "dark";
}

/** Who a client or server says it is. For display and logs, never for decisions. */
export interface Implementation {
  name: string;
  version: string;
  title?: string;
  description?: string;
  websiteUrl?: string;
  icons?: Icon[];
}

/** What a client can do for a server. Filled in from the handlers that exist. */
export interface ClientCapabilities {
  elicitation?: { form?: JsonObject; url?: JsonObject };
  sampling?: { context?: JsonObject; tools?: JsonObject };
  roots?: { listChanged?: boolean };
  tasks?: JsonObject;
  extensions?: Record<string, JsonObject>;
  experimental?: Record<string, JsonObject>;
}

/** What a server can do. */
export interface ServerCapabilities {
  tools?: { listChanged?: boolean };
  resources?: { subscribe?: boolean; listChanged?: boolean };
  prompts?: { listChanged?: boolean };
  completions?: JsonObject;
  logging?: JsonObject;
  tasks?: { list?: JsonObject; cancel?: JsonObject; requests?: { tools?: { call?: JsonObject } } };
  extensions?: Record<string, JsonObject>;
  experimental?: Record<string, JsonObject>;
}

/** A JSON Schema as it came from the server or the caller. */
export type JsonSchema = JsonObject | boolean;

/** Hints of a server about a tool. Untrusted. */
export interface ToolAnnotations {
  title?: string;
  readOnlyHint?: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint?: boolean;
}

/** A tool as its server lists it. */
export interface Tool {
  name: string;
  title?: string;
  description?: string;
  inputSchema: JsonObject;
  outputSchema?: JsonObject;
  annotations?: ToolAnnotations;
  icons?: Icon[];
  /** 2025-11-25: whether the tool runs as a task. */
  execution?: { taskSupport?: "forbidden" | "optional" | "required" };
  _meta?: Meta;
}

/** Hints about content. */
export interface Annotations {
  audience?: Role[];
  /** From 0 (may be left out) to 1 (has to be there). */
  priority?: number;
  /** ISO 8601. */
  lastModified?: string;
}

/** Text. */
export interface TextContent {
  type: "text";
  text: string;
  annotations?: Annotations;
  _meta?: Meta;
}

/** A picture, base64. */
export interface ImageContent {
  type: "image";
  data: string;
  mimeType: string;
  annotations?: Annotations;
  _meta?: Meta;
}

/** Sound, base64. */
export interface AudioContent {
  type: "audio";
  data: string;
  mimeType: string;
  annotations?: Annotations;
  _meta?: Meta;
}

/** The text or the bytes (base64) of a resource. */
export interface ResourceContents {
  uri: string;
  mimeType?: string;
  text?: string;
  blob?: string;
  _meta?: Meta;
}

/** A resource inside content. */
export interface EmbeddedResource {
  type: "resource";
  resource: ResourceContents;
  annotations?: Annotations;
  _meta?: Meta;
}

/** A pointer to a resource that can be read. */
export interface ResourceLink extends Resource {
  type: "resource_link";
}

/** A part of a tool's result or of a prompt. A newer server may send a `type` that is not here: leave it alone. */
export type ContentBlock = TextContent | ImageContent | AudioContent | EmbeddedResource | ResourceLink;

/** What every result may carry. */
export interface Result {
  _meta?: Meta;
  /** Modern: `complete`, `input_required`, or a value of a declared extension. */
  resultType?: string;
}

/** How long and for whom a result may be kept (2026-07-28: caching). */
export interface CacheHints {
  ttlMs?: number;
  cacheScope?: "public" | "private";
}

/** The result of a tool. `isError` is true when the tool itself failed. */
export interface CallToolResult extends Result {
  content: ContentBlock[];
  /** Any JSON value, also null, 0 and false (2025-06-18 and 2025-11-25: an object): test whether it is there. */
  structuredContent?: JsonValue;
  isError?: boolean;
}

/** A page of a list, or all of it: then `nextCursor` is missing. */
export interface ListResult extends Result, CacheHints {
  nextCursor?: Cursor;
  /** Set by this library when a cap ended the walk before the list did: what was gathered is here. */
  truncated?: "pages" | "items" | "time" | "bytes";
}

/** Tools of a server. */
export interface ListToolsResult extends ListResult {
  tools: Tool[];
  /** Tools that were left out, with the reason (an invalid `x-mcp-header`, a duplicate name). */
  rejected?: { name: string; reason: string }[];
}

/** A resource as its server lists it. */
export interface Resource {
  uri: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  size?: number;
  annotations?: Annotations;
  icons?: Icon[];
  _meta?: Meta;
}

/** Resources of a server. */
export interface ListResourcesResult extends ListResult {
  resources: Resource[];
}

/** A family of resources: an RFC 6570 template. */
export interface ResourceTemplate {
  uriTemplate: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  annotations?: Annotations;
  icons?: Icon[];
  _meta?: Meta;
}

/** Resource templates of a server. */
export interface ListResourceTemplatesResult extends ListResult {
  resourceTemplates: ResourceTemplate[];
}

/** What reading a resource gives: one or more contents. */
export interface ReadResourceResult extends Result, CacheHints {
  contents: ResourceContents[];
}

/** A value that a prompt takes. */
export interface PromptArgument {
  name: string;
  title?: string;
  description?: string;
  required?: boolean;
}

/** A prompt as its server lists it. */
export interface Prompt {
  name: string;
  title?: string;
  description?: string;
  arguments?: PromptArgument[];
  icons?: Icon[];
  _meta?: Meta;
}

/** Prompts of a server. */
export interface ListPromptsResult extends ListResult {
  prompts: Prompt[];
}

/** One message of a prompt. */
export interface PromptMessage {
  role: Role;
  content: ContentBlock;
}

/** A prompt with its arguments filled in. */
export interface GetPromptResult extends Result {
  description?: string;
  messages: PromptMessage[];
}

/** A page of a list is asked for. */
export interface PaginatedRequest {
  cursor?: Cursor;
  _meta?: RequestMeta;
}

/** What a retry brings along when a result asked for input (2026-07-28: multi round-trip requests). */
export interface InputResponses {
  /** The answers, under the keys of the requests. */
  inputResponses?: Record<string, JsonObject>;
  /** The state as it came, byte for byte; absent when none came. */
  requestState?: string;
}

/** A tool is called. */
export interface CallToolRequest extends InputResponses {
  name: string;
  arguments?: JsonObject;
  /** 2025-11-25: runs it as a task. */
  task?: TaskMetadata;
  _meta?: RequestMeta;
}

/** A resource is read. */
export interface ReadResourceRequest extends InputResponses {
  uri: string;
  _meta?: RequestMeta;
}

/** A prompt is filled in. */
export interface GetPromptRequest extends InputResponses {
  name: string;
  arguments?: Record<string, string>;
  _meta?: RequestMeta;
}

/** What is being completed: an argument of a prompt or a variable of a resource template. */
export type CompletionReference = { type: "ref/prompt"; name: string; title?: string } | {
  type: "ref/resource";
  uri: string;
};

/** Suggestions for a value are asked for. */
export interface CompleteRequest {
  ref: CompletionReference;
  argument: { name: string; value: string };
  /** Values that are settled already (since 2025-06-18). */
  context?: { arguments?: Record<string, string> };
  _meta?: RequestMeta;
}

/** Suggestions for a value: at most 100. */
export interface CompleteResult extends Result {
  completion: { values: string[]; total?: number; hasMore?: boolean };
}

/** Levels of log messages, least first. */
export type LoggingLevel = "debug" | "info" | "notice" | "warning" | "error" | "critical" | "alert" | "emergency";

/** A log message of a server. */
export interface LogMessage {
  level: LoggingLevel;
  logger?: string;
  data: JsonValue;
}

/** A sign of progress. Values rise; `total` may be unknown. */
export interface Progress {
  progress: number;
  total?: number;
  message?: string;
}

/** A notice of progress as it travels. */
export interface ProgressNotification extends Progress {
  progressToken: ProgressToken;
  _meta?: Meta;
}

/** A request is called off. */
export interface CancelledNotification {
  requestId?: RequestId;
  reason?: string;
  _meta?: Meta;
}

/** What a server tells about itself at the start (2026-07-28: server/discover). */
export interface DiscoverResult extends Result, CacheHints {
  supportedVersions: string[];
  capabilities: ServerCapabilities;
  instructions?: string;
}

/** The handshake of the legacy revisions. */
export interface InitializeRequest {
  protocolVersion: string;
  capabilities: ClientCapabilities;
  clientInfo: Implementation;
  _meta?: Meta;
}

/** The answer to `initialize`. */
export interface InitializeResult extends Result {
  protocolVersion: string;
  capabilities: ServerCapabilities;
  serverInfo: Implementation;
  instructions?: string;
}

/** A value to choose from, with a name for people. */
export type TitledValue = { const: string; title: string };

/** A field of an elicitation form: a primitive, or a choice of some texts (`array`). */
export interface ElicitationField extends JsonObject {
  type: "string" | "number" | "integer" | "boolean" | "array";
  title?: string;
  description?: string;
  default?: JsonValue;
  minLength?: number;
  maxLength?: number;
  format?: "email" | "uri" | "date" | "date-time";
  minimum?: number;
  maximum?: number;
  /** One of these texts; `enumNames` (legacy) names them for people. */
  enum?: string[];
  enumNames?: string[];
  /** One of these, with names. */
  oneOf?: TitledValue[];
  /** `array`: which texts may be chosen. */
  items?: { type?: "string"; enum?: string[]; anyOf?: TitledValue[] };
  minItems?: number;
  maxItems?: number;
}

/** The server asks the user for data (`form`) or to visit a page (`url`). */
export interface ElicitRequest extends JsonObject {
  mode?: "form" | "url";
  message: string;
  /** `form`: an object schema with primitive properties. */
  requestedSchema?: { type: "object"; properties: Record<string, ElicitationField>; required?: string[] };
  /** `url`: where the user should go. Never fetched, never opened by this library. */
  url?: string;
  /** `url` in 2025-11-25: names this elicitation in the completion notice. */
  elicitationId?: string;
}

/** The user's answer: yes with data, an explicit no, or dismissed. */
export interface ElicitResult extends JsonObject {
  action: "accept" | "decline" | "cancel";
  content?: JsonObject;
}

/** A model wants a tool to be called. */
export interface ToolUseContent {
  type: "tool_use";
  id: string;
  name: string;
  input: JsonObject;
  _meta?: Meta;
}

/** What the tool gave that a model asked for. */
export interface ToolResultContent {
  type: "tool_result";
  toolUseId: string;
  content: ContentBlock[];
  structuredContent?: JsonValue;
  isError?: boolean;
  _meta?: Meta;
}

/** A part of a sampling message. */
export type SamplingContent = TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent;

/** One message for, or of, a model. */
export interface SamplingMessage {
  role: Role;
  content: SamplingContent | SamplingContent[];
  _meta?: Meta;
}

/** What kind of model a server would like. Hints come first, in their order; each may be a part of a model's name. */
export interface ModelPreferences {
  hints?: { name?: string }[];
  /** From 0 (does not matter) to 1 (matters most), like the other two. */
  costPriority?: number;
  speedPriority?: number;
  intelligencePriority?: number;
}

/** Whether a model may (`auto`), has to (`required`) or must not (`none`) use tools. */
export interface ToolChoice {
  mode?: "auto" | "required" | "none";
}

/**
 * The server asks for a model's answer.
 *
 * @deprecated Sampling is deprecated in 2026-07-28.
 */
export interface CreateMessageRequest {
  messages: SamplingMessage[];
  maxTokens: number;
  systemPrompt?: string;
  temperature?: number;
  stopSequences?: string[];
  includeContext?: "none" | "thisServer" | "allServers";
  modelPreferences?: ModelPreferences;
  tools?: Tool[];
  toolChoice?: ToolChoice;
  metadata?: JsonObject;
  /** 2025-11-25: runs it as a task. */
  task?: TaskMetadata;
  _meta?: Meta;
}

/**
 * A model's answer.
 *
 * @deprecated Sampling is deprecated in 2026-07-28.
 */
export interface CreateMessageResult {
  role: Role;
  content: SamplingContent | SamplingContent[];
  model: string;
  stopReason?: string;
  _meta?: Meta;
}

/**
 * A place that the server may work in: a `file://` URI.
 *
 * @deprecated Roots are deprecated in 2026-07-28.
 */
export interface Root {
  uri: string;
  name?: string;
  _meta?: Meta;
}

/**
 * The places that a server may work in.
 *
 * @deprecated Roots are deprecated in 2026-07-28.
 */
export interface ListRootsResult extends Result {
  roots: Root[];
}

/** What a modern server asks for in the middle of a call. */
export interface InputRequest {
  method: string;
  params?: JsonObject;
}

/** A modern result that asks for input (2026-07-28: multi round-trip requests). */
export interface InputRequiredResult extends Result {
  resultType: "input_required";
  inputRequests?: Record<string, InputRequest>;
  requestState?: string;
}

/** Where a task stands. */
export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** 2025-11-25: asks for a task instead of a result. */
export interface TaskMetadata {
  /** How long it should be kept, in milliseconds from its creation. */
  ttl?: number;
}

/** A task of 2025-11-25 or of the extension, in one shape: times in milliseconds. */
export interface Task {
  taskId: string;
  status: TaskStatus;
  statusMessage?: string;
  createdAt?: string;
  lastUpdatedAt?: string;
  /** How long it is kept, counted from its creation; null: without bound. */
  ttlMs?: number | null;
  /** How long to wait between two looks. */
  pollIntervalMs?: number;
}

/** 2025-11-25: a task instead of a result, as it travels: `ttl` and `pollInterval` are in milliseconds. */
export interface CreateTaskResult extends Result {
  task: Omit<Task, "ttlMs" | "pollIntervalMs"> & { ttl?: number | null; pollInterval?: number };
}

/** Tasks of a server (2025-11-25). */
export interface ListTasksResult extends ListResult {
  tasks: Task[];
}

/** What `listen()` should tell of. */
export interface ListenFilter {
  tools?: boolean;
  prompts?: boolean;
  resources?: boolean;
  /** URIs whose content is watched. */
  resourceUris?: string[];
  /** Tasks whose state is watched (extension `io.modelcontextprotocol/tasks`). */
  taskIds?: string[];
}

/** Something changed at the server. `missed`: the stream was down for a while, so it may have changed. */
export type Change =
  | { type: "tools" | "prompts" | "resources"; missed?: boolean }
  | { type: "resource"; uri: string; missed?: boolean }
  | { type: "task"; task: Task & JsonObject };

/** The id of the request that something belongs to. */
export type { JsonObject, JsonValue, RequestId };
