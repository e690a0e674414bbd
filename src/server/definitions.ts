/**
 * What an author of a server writes: tools, resources, prompts, and what their handlers get and give.
 *
 * @module
 */
import type { ConstantJson, JsonObject, JsonValue } from "../protocol/json_rpc.ts";
import type {
  Annotations,
  CacheHints,
  CallToolResult,
  CreateMessageRequest,
  CreateMessageResult,
  ElicitRequest,
  ElicitResult,
  GetPromptResult,
  Icon,
  Implementation,
  JsonSchema,
  LoggingLevel,
  Meta,
  Progress,
  ReadResourceResult,
  ResourceContents,
  Root,
  ToolAnnotations,
} from "../protocol/types.ts";
import type { Era, Revision } from "../protocol/revisions.ts";

export type { ConstantItem, ConstantJson } from "../protocol/json_rpc.ts";

/** A schema of any library that speaks Standard Schema, version 1 (zod, valibot, arktype, …), or a JSON Schema. */
export type AnySchema = StandardSchema | JsonSchema | ConstantJson | ForeignJsonSchema;

/**
 * A JSON Schema as the types of another library tell it: TypeBox, `toJsonSchema` of valibot and of arktype, `JSONSchema7`. An
 * interface is no {@linkcode JsonSchema} to TypeScript, whatever is in it, so it is known by one of these.
 */
export interface ForeignJsonSchema {
  /** The dialect. */
  readonly $schema?: string | undefined;
  /** Another place, where it stands. */
  readonly $ref?: string | undefined;
  /** The types that fit. */
  readonly type?: string | readonly string[] | undefined;
  /** The members of an object. */
  readonly properties?: { readonly [name: string]: ForeignPart } | undefined;
  /** The values that fit. */
  readonly enum?: readonly unknown[] | undefined;
  /** The one value that fits. */
  readonly const?: unknown;
  /** Schemas that all fit. */
  readonly allOf?: readonly ForeignPart[] | undefined;
  /** Schemas of which some fit. */
  readonly anyOf?: readonly ForeignPart[] | undefined;
  /** Schemas of which one fits. */
  readonly oneOf?: readonly ForeignPart[] | undefined;
  /** A schema that does not fit. */
  readonly not?: ForeignPart | undefined;
  /** A schema of a library is a {@linkcode StandardSchema}. */
  readonly "~standard"?: undefined;
}

/** A part of a {@linkcode ForeignJsonSchema}: what libraries make of it has no member in common, but none is a {@linkcode StandardSchema}. */
export type ForeignPart = boolean | (object & { readonly "~standard"?: undefined });

/** The part of Standard Schema that is used (https://standardschema.dev): how a value is checked, and what types it has. */
export interface StandardSchema<Input = unknown, Output = Input> {
  /** What makes it one. */
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    /** Standard JSON Schema: gives the JSON Schema of the library's own schema, where it can. */
    readonly jsonSchema?: {
      readonly input: (options: { target: string }) => Record<string, unknown>;
      readonly output: (options: { target: string }) => Record<string, unknown>;
    } | undefined;
  };
}

/** What a Standard Schema says of a value. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One place where a value does not fit. */
export interface StandardIssue {
  /** What is wrong, in words. */
  readonly message: string;
  /** Where in the value; missing: the whole. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The type of what a schema lets through: of a Standard Schema its output, of a JSON Schema any JSON object. */
export type Checked<Schema> = Schema extends { readonly "~standard": { readonly types?: infer Types } }
  ? NonNullable<Types> extends { readonly output: infer Output } ? Output : JsonObject
  : JsonObject;

/** Who the caller is, as the transport verified it. Never from the request itself. */
export interface AuthInfo {
  /** Names the caller: what state, sessions and tasks are bound to. */
  readonly principal: string;
  /** What the caller was allowed to do, by name. */
  readonly scopes?: readonly string[] | undefined;
  /** The program that speaks for the caller. */
  readonly clientId?: string | undefined;
  /** When the proof of it ends, in milliseconds since 1970. */
  readonly expiresAt?: number | undefined;
  /** What else the verification found out. */
  readonly extra?: Readonly<Record<string, unknown>> | undefined;
}

/** What a handler is told about the request, and what it can do beside answering it. Good until the handler has ended. */
export interface RequestContext {
  /** Aborted when the caller gave up or is gone. Pass it on. */
  readonly signal: AbortSignal;
  /** Who the caller is; undefined where nothing verifies it. */
  readonly auth: AuthInfo | undefined;
  /** What the client says it is. Not trusted, not for decisions. */
  readonly client: Implementation | undefined;
  /** Whether the request stands for itself (`modern`) or belongs to a session (`legacy`). */
  readonly era: Era;
  /** The revision that the request speaks. */
  readonly revision: Revision;
  /** The `_meta` of the request. */
  readonly meta: Meta;
  /** Tells how far it is: only where the caller asked for it, at most some times a second, and never backwards. */
  progress(progress: Progress): void;
  /** Sends a log message to the client, where it wants that level. Never put secrets into it. */
  log(level: LoggingLevel, data: JsonValue, logger?: string): void;
  /**
   * Asks the user. In the modern era the handler is run again from its start with the answer (specification 2026-07-28:
   * multi round-trip requests): what is done before must be safe to repeat. Questions that are asked together
   * (`Promise.all`) go out together.
   *
   * @param request What to ask. `key` names the question within this call; without it questions are numbered.
   * @returns What the user did: look at `action`.
   * @throws {MissingCapabilityError} When the client cannot ask this.
   */
  elicit(request: ElicitRequest, options?: AskOptions): Promise<ElicitResult>;
  /**
   * Asks the client's model. As {@linkcode elicit}.
   *
   * @throws {MissingCapabilityError} When the client has none for us.
   */
  sample(request: CreateMessageRequest, options?: AskOptions): Promise<CreateMessageResult>;
  /**
   * Asks for the places that the client opens to us. As {@linkcode elicit}.
   *
   * @throws {MissingCapabilityError} When the client opens none.
   */
  roots(options?: AskOptions): Promise<Root[]>;
  /** Whether the client can be asked this: look before you ask what you can do without. */
  can(what: "elicit" | "elicitUrl" | "sample" | "sampleWithTools" | "roots"): boolean;
  /**
   * Where the handler is run again with each answer (modern): what is put into `carried`, plain JSON, is there in the next
   * run. It travels through the client, sealed, and is good for this caller and this request alone.
   */
  readonly rounds?: { carried: JsonValue | undefined } | undefined;
  /**
   * Lets the caller go with a task to follow, and goes on: for tools with `taskBegins: "when-told"`. What was asked before
   * was asked in the course of the call; what is asked afterwards, the task asks. Missing where no tasks are served; does
   * nothing where the call is a task already, or the caller cannot follow one.
   *
   * @throws {RpcError} When there are too many tasks: let it pass.
   */
  continueAsTask?(): Promise<void>;
}

/** Options of a question to the client. */
export interface AskOptions {
  /**
   * Names the question within this call; it has to be the same in each round. Without one, a question to the user whose
   * words have changed since is asked again: what was agreed to must not move.
   */
  key?: string | undefined;
  /**
   * Aborted when the answer is not wanted any more: a client of a handshake session is told so. A modern client needs not be: what it is
   * asked ends the round.
   */
  signal?: AbortSignal | undefined;
}

/**
 * What a tool may return: a text, any JSON (structured), content of its own making, or `{ error }`. Objects are taken by
 * what they hold: one that is no JSON (a Map, a cycle) is an error result that says so.
 */
export type ToolReturn = string | JsonValue | CallToolResult | { readonly error: string } | object | undefined | void;

/** Runs a tool. What it throws reaches the client as a result with `isError: true`, not as a crash. */
export type ToolHandler<Arguments> = (
  args: Arguments,
  context: RequestContext,
) => ToolReturn | Promise<ToolReturn>;

/** What is said of a tool. */
export interface ToolOptions<Input extends AnySchema = AnySchema> {
  /** What people call it. */
  title?: string | undefined;
  /** What it is good for: a hint for a model. */
  description?: string | undefined;
  /** What its arguments look like; without one it takes none. */
  input?: Input | undefined;
  /** What its structured result looks like; results that do not fit become errors. */
  output?: AnySchema | undefined;
  /** Hints about it, for clients to show. */
  annotations?: ToolAnnotations | undefined;
  /** Its pictures. */
  icons?: readonly Icon[] | undefined;
  /** The `_meta` that it is listed with. */
  meta?: Meta | undefined;
  /**
   * Whether a call may go on as a task, which the caller leaves and finds again (`forbidden`); looked at only where tasks
   * are served (`createTasks`). `optional`: with callers that know tasks, it does. `required`: others are refused.
   */
  task?: "forbidden" | "optional" | "required" | undefined;
  /**
   * When a call of a modern client becomes a task: before the handler runs (`at-once`), or when the handler calls
   * `context.continueAsTask` (`when-told`). Legacy clients say themselves that they want one, and get it at once.
   */
  taskBegins?: "at-once" | "when-told" | undefined;
}

/** Reads a resource. */
export type ResourceHandler = (
  uri: string,
  context: RequestContext,
) => ResourceReturn | Promise<ResourceReturn>;

/** Reads a resource of a template; `variables` are what the template's expressions stand for. */
export type TemplateHandler = (
  uri: string,
  variables: Record<string, string | string[]>,
  context: RequestContext,
) => ResourceReturn | Promise<ResourceReturn>;

/** What a resource may be: a text, bytes, contents of its own making, or undefined when there is none. */
export type ResourceReturn =
  | string
  | Uint8Array
  | ResourceContents
  | ResourceContents[]
  | ReadResourceResult
  | undefined;

/** What is said of a resource. */
export interface ResourceOptions {
  /** What programs call it (default: the URI or the template). */
  name?: string | undefined;
  /** What people call it. */
  title?: string | undefined;
  /** What it is good for: a hint for a model. */
  description?: string | undefined;
  /** The type of its content (default: `text/plain` for texts, `application/octet-stream` for bytes). */
  mimeType?: string | undefined;
  /** How long its content is, in bytes. */
  size?: number | undefined;
  /** Hints about it, for clients to show. */
  annotations?: Annotations | undefined;
  /** Its pictures. */
  icons?: readonly Icon[] | undefined;
  /** The `_meta` that it is listed with. */
  meta?: Meta | undefined;
  /** How long and for whom what was read is good (specification 2026-07-28: caching). */
  cache?: CacheHints | undefined;
}

/** What is said of a resource template. */
export interface TemplateOptions extends Omit<ResourceOptions, "size"> {
  /** Suggests values for one variable of the template. */
  complete?: Readonly<Record<string, Completer>> | undefined;
}

/** Suggests values for what is typed so far; `known` are the other arguments. */
export type Completer = (
  value: string,
  known: Readonly<Record<string, string>>,
  context: RequestContext,
) => readonly string[] | Promise<readonly string[]>;

/** One argument of a prompt. */
export interface PromptArgumentOptions {
  /** What people call it. */
  title?: string | undefined;
  /** What it is good for: a hint for a model. */
  description?: string | undefined;
  /** Whether the prompt cannot do without it (false). */
  required?: boolean | undefined;
  /** Suggests values for it. */
  complete?: Completer | undefined;
}

/** What is said of a prompt. */
export interface PromptOptions {
  /** What people call it. */
  title?: string | undefined;
  /** What it is good for: a hint for a model. */
  description?: string | undefined;
  /** The arguments it takes, by name. */
  arguments?: Readonly<Record<string, PromptArgumentOptions>> | undefined;
  /** Its pictures. */
  icons?: readonly Icon[] | undefined;
  /** The `_meta` that it is listed with. */
  meta?: Meta | undefined;
}

/** Fills a prompt in: a text is one message of the user. */
export type PromptHandler = (
  args: Record<string, string>,
  context: RequestContext,
) => string | GetPromptResult | Promise<string | GetPromptResult>;
