/**
 * An agent that is asked like a model: what an author writes.
 *
 * @module
 */
import type { JsonObject } from "../protocol/json_rpc.ts";
import type { AuthInfo } from "../server/definitions.ts";
import { checkClass, classNameOf, toDashes } from "./names.ts";

/** One message of a conversation, in the form of OpenAI's chat completions. */
export interface ChatMessage {
  /** Who speaks. */
  readonly role: "system" | "developer" | "user" | "assistant" | "tool";
  /** A text, or parts (`{ type: "text", text }`, pictures and so on); null where an assistant only calls tools or refuses. */
  readonly content?: string | readonly JsonObject[] | null;
  /** What an assistant said in place of an answer. */
  readonly refusal?: string | null;
  /** Which of those who share a role. */
  readonly name?: string;
  /** The tools that an assistant calls. */
  readonly tool_calls?: readonly JsonObject[];
  /** Which call the message of a tool answers. */
  readonly tool_call_id?: string;
}

/** What is told to `respond` beside the messages. */
export interface ModelContext {
  /** The model that was asked for. */
  readonly model: string;
  /** Aborted when the caller is gone. Pass it on. */
  readonly signal: AbortSignal;
  /** Who the caller is; undefined where nothing verifies it. */
  readonly auth: AuthInfo | undefined;
  /** The whole request as it came, for `temperature`, `max_tokens` and the like. Its sampling numbers were checked. */
  readonly request: JsonObject;
}

/** How many tokens went in and came out. */
export interface TokenUsage {
  /** What was read. */
  readonly inputTokens: number;
  /** What was written. */
  readonly outputTokens: number;
}

/** A tool of the caller's that the model wants to be called: the caller sends back what it gave. */
export interface ToolCall {
  /** Names the call within the conversation. */
  readonly id: string;
  /** Which tool: one of those in `context.request.tools`. */
  readonly name: string;
  /** What it is given: an object, or the text of one. */
  readonly arguments: JsonObject | string;
}

/** What is known when a reply has ended. */
export interface ReplyEnd {
  /** Default: an estimate, one token for four characters. */
  readonly usage?: TokenUsage | undefined;
  /** Why it ended. Default: "stop", or "tool_calls" where there are some. */
  readonly finishReason?: "stop" | "length" | "content_filter" | "tool_calls" | undefined;
  /** The caller's tools that are to be called. Default: none. */
  readonly toolCalls?: readonly ToolCall[] | undefined;
}

/** A whole reply. */
export interface ModelReply extends ReplyEnd {
  /** The text. */
  readonly content: string;
}

/** A reply piece by piece, as an async generator gives it: texts, and what it returns is the end. */
export interface ReplyPieces {
  /** Begins the reply. */
  [Symbol.asyncIterator](): AsyncIterator<string, ReplyEnd | void, undefined>;
}

/** What `respond` may give. */
export type ModelReturn = string | ModelReply | ReplyPieces;

/** What is told of a model. */
export interface ModelInfo {
  /** How much it can read. */
  readonly maxInputTokens?: number | undefined;
  /** How much it can write. */
  readonly maxOutputTokens?: number | undefined;
  /** What it is good for. */
  readonly description?: string | undefined;
  /** Default: "causeway". */
  readonly ownedBy?: string | undefined;
  /** When it was made, in seconds since 1970. Default: when it was first served. */
  readonly created?: number | undefined;
}

/** What an object has to have to be asked like a model: one method. {@linkcode ApiAgent} has defaults for the others. */
export interface ApiAgentShape {
  /** What the model is called by. Default: `causeway-` and the class's name without "Agent", in lower case with dashes. */
  getModelId?(): string;
  /** What is told of it. Default: 8,192 tokens in, 4,096 out. */
  getModelInfo?(): ModelInfo;
  /** Answers a conversation. */
  respond(messages: readonly ChatMessage[], context: ModelContext): ModelReturn | Promise<ModelReturn>;
}

/**
 * An agent that is asked like a model. Serve it with `createModelHandler`. A class that extends something else already
 * gets the same by {@linkcode withApiAgent}, or by `implements ApiAgentShape`.
 *
 * @example A model that repeats what it hears
 * ```ts
 * import { ApiAgent, textOfMessage } from "@causeway/mcp/agent";
 * import type { ChatMessage } from "@causeway/mcp/agent";
 *
 * class EchoAgent extends ApiAgent {
 *   async *respond(messages: readonly ChatMessage[]) {
 *     for (const word of textOfMessage(messages.at(-1)!).split(" ")) yield `${word} `;
 *   }
 * }
 * console.assert(new EchoAgent().getModelId() === "causeway-echo");
 * ```
 */
export abstract class ApiAgent implements ApiAgentShape {
  /**
   * Called by the classes that extend it.
   *
   * @throws {TypeError} When the class lacks `respond`: a method, not a field.
   */
  constructor() {
    checkClass(new.target, ["respond"]);
  }

  /** What the model is called by: `causeway-` and the class's name without "Agent", in lower case with dashes. */
  getModelId(): string {
    return defaultModelId(this);
  }

  /** What is told of it: 8,192 tokens in, 4,096 out. */
  getModelInfo(): ModelInfo {
    return defaultModelInfo();
  }

  /**
   * Answers a conversation.
   *
   * @param messages All of it, oldest first.
   * @param context What is known of the request.
   * @returns A text, `{ content, usage, finishReason }`, or pieces of text as they come (an async generator).
   * @throws {ModelError} What the caller is to be told. Any other error is logged, and the caller hears only of a failure.
   */
  abstract respond(messages: readonly ChatMessage[], context: ModelContext): ModelReturn | Promise<ModelReturn>;
}

/** A class that can be extended. */
export type AgentClass = abstract new (...parameters: never[]) => object;

/** A class with what {@linkcode ApiAgent} has beside its own. */
export type WithApiAgent<Base extends AgentClass> = abstract new (
  ...parameters: ConstructorParameters<Base>
) => InstanceType<Base> & ApiAgent;

/**
 * A class that is another one and an {@linkcode ApiAgent} as well, so that one object is an MCP server and a model.
 *
 * @param base The other class, `McpAgent` for one.
 *
 * @example Both in one
 * ```ts
 * import { McpAgent, withApiAgent } from "@causeway/mcp/agent";
 *
 * class HelpAgent extends withApiAgent(McpAgent) {
 *   getMcpToolDefinitions() {
 *     return [{ name: "help" }];
 *   }
 *   executeMcpTool() {
 *     return "Try turning it off and on again";
 *   }
 *   respond() {
 *     return this.executeMcpTool();
 *   }
 * }
 * console.assert(new HelpAgent().getModelId() === "causeway-help");
 * ```
 */
export function withApiAgent<Base extends AgentClass>(base: Base): WithApiAgent<Base> {
  const parent = base as unknown as abstract new (...parameters: unknown[]) => object;
  // What the other class says of itself comes first.
  const own = parent.prototype as Partial<ApiAgentShape>;
  abstract class Both extends parent {
    constructor(...parameters: unknown[]) {
      super(...parameters);
      checkClass(new.target, ["respond"]);
    }

    getModelId(): string {
      return own.getModelId?.call(this) ?? defaultModelId(this);
    }

    getModelInfo(): ModelInfo {
      return own.getModelInfo?.call(this) ?? defaultModelInfo();
    }
  }
  // `respond` is abstract in the type that is given out, and looked for by the constructor.
  return Both as unknown as WithApiAgent<Base>;
}

/** What the caller of a model is told: thrown by `respond`, it becomes the reply with this status. */
export class ModelError extends Error {
  /** The HTTP status, 400 to 599. */
  readonly status: number;
  /** The kind of error, in OpenAI's words. */
  readonly type: string;
  /** Which field of the request is wrong, where one is. */
  readonly param: string | null;
  /** What went wrong, in one word, where there is one. */
  readonly code: string | null;
  /** Whether the caller's program is to ask again by itself, as `x-should-retry` says it. Undefined: its rule by the status holds. */
  readonly retryable: boolean | undefined;

  /**
   * Makes an error.
   *
   * @param message What the caller is told.
   * @param options `status` (500), `type` (by the status), `param`, `code` and `retryable`: false where asking again could do
   * something twice.
   */
  constructor(
    message: string,
    options: { status?: number; type?: string; param?: string; code?: string; retryable?: boolean; cause?: unknown } =
      {},
  ) {
    super(message, options);
    this.name = "ModelError";
    const { status = 500, type, param = null, code = null } = options;
    this.status = status;
    this.type = type ?? (status === 429 ? "rate_limit_error" : status < 500 ? "invalid_request_error" : "server_error");
    this.param = param;
    this.code = code;
    this.retryable = options.retryable;
  }
}

/** The text of a message: its parts of text and refusals joined, or nothing. */
export function textOfMessage({ content, refusal }: ChatMessage): string {
  // Put together from a stream, what was refused has an empty text beside it.
  const parts = content || [{ type: "refusal", refusal: refusal ?? "" }];
  if (typeof parts === "string") return parts;
  return parts.map((part) => {
    const said = part.type === "text" ? part.text : part.type === "refusal" ? part.refusal : "";
    return typeof said === "string" ? said : "";
  }).join("");
}

/** Whether an object can be asked like a model. */
export function isApiAgent(agent: object): agent is ApiAgentShape {
  return typeof Reflect.get(agent, "respond") === "function";
}

/** What a model is called that does not say so itself. */
export function defaultModelId(agent: object): string {
  const name = toDashes(classNameOf(agent).replace(/(?<=.)Agent$/, ""));
  return `causeway-${name || "agent"}`;
}

/** What is told of a model that does not say so itself. */
export function defaultModelInfo(): ModelInfo {
  return { maxInputTokens: 8_192, maxOutputTokens: 4_096 };
}
