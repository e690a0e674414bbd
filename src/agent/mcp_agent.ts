/**
 * An agent that is reached through MCP: what an author writes.
 *
 * @module
 */
import { InvalidParamsError } from "../protocol/errors.ts";
import { excerpt } from "../protocol/excerpt.ts";
import type { ConstantJson, JsonObject } from "../protocol/json_rpc.ts";
import type {
  GetPromptResult,
  Icon,
  Implementation,
  Meta,
  Prompt,
  Resource,
  ToolAnnotations,
} from "../protocol/types.ts";
import type { RequestContext, ResourceReturn, ToolReturn } from "../server/definitions.ts";
import { checkClass, classNameOf } from "./names.ts";

/** A tool as an agent describes it. */
export interface McpToolDefinition {
  /** What it is called by: lower-case words with dashes between them (`read-file`). Others work and are warned of. */
  readonly name: string;
  /** What people call it. */
  readonly title?: string | undefined;
  /** What it does: a model chooses by it. */
  readonly description?: string | undefined;
  /** The JSON Schema that its arguments are checked against. `{}` takes any; without one it takes none. */
  readonly inputSchema?: ConstantJson | undefined;
  /** The JSON Schema of its result. */
  readonly outputSchema?: ConstantJson | undefined;
  /** How it behaves. */
  readonly annotations?: ToolAnnotations | undefined;
  /** Its pictures. */
  readonly icons?: readonly Icon[] | undefined;
  /** What else is said of it. */
  readonly _meta?: Meta | undefined;
}

/** What a prompt may be filled in with: a text is one message of the user. */
export type PromptReturn = string | GetPromptResult;

/**
 * What an object has to have to be served through MCP: two methods. {@linkcode McpAgent} is a class with defaults for the
 * others; any object that fills this is as good.
 */
export interface McpAgentShape {
  /** The tools. Read once, when the agent is served. */
  getMcpToolDefinitions(): readonly McpToolDefinition[];
  /**
   * Runs a tool. The name is one of the listed ones and the arguments were checked when the call came through MCP.
   * What it throws, and `{ error }`, reach the caller as a result with `isError: true`.
   */
  executeMcpTool(name: string, args: JsonObject, context: RequestContext): ToolReturn | Promise<ToolReturn>;
  /** The prompts. Default: none. */
  getMcpPrompts?(): readonly Prompt[];
  /** Fills in one of them. */
  getMcpPrompt?(
    name: string,
    args: Record<string, string>,
    context: RequestContext,
  ): PromptReturn | Promise<PromptReturn>;
  /** The resources. Default: none. */
  getMcpResources?(): readonly Resource[];
  /** Reads one of them. */
  readMcpResource?(uri: string, context: RequestContext): ResourceReturn | Promise<ResourceReturn>;
  /** Who it is. Default: `Causeway <ClassName>`, version 2.0.0. */
  getMcpServerInfo?(): Implementation;
}

/**
 * An agent with tools, and prompts and resources if it likes. Serve it with `createAgentHandler` over HTTP, or with
 * `toMcpServer` over anything.
 *
 * @example An agent with one tool
 * ```ts
 * import { McpAgent, toMcpServer, unknownTool } from "@causeway/mcp/agent";
 *
 * class GreeterAgent extends McpAgent {
 *   getMcpToolDefinitions() {
 *     return [{ name: "greet", inputSchema: { type: "object", properties: { name: { type: "string" } } } }];
 *   }
 *   executeMcpTool(name: string, args: Record<string, unknown>) {
 *     if (name !== "greet") throw unknownTool(name);
 *     return `Hello, ${args.name}`;
 *   }
 * }
 * const server = toMcpServer(new GreeterAgent());
 * console.assert(server.methods.info.name === "Causeway GreeterAgent");
 * ```
 */
export abstract class McpAgent implements McpAgentShape {
  /**
   * Called by the classes that extend it.
   *
   * @throws {TypeError} When the class lacks `getMcpToolDefinitions` or `executeMcpTool`: methods, not fields.
   */
  constructor() {
    checkClass(new.target, ["getMcpToolDefinitions", "executeMcpTool"]);
  }

  /** The tools. Read once, when the agent is served. */
  abstract getMcpToolDefinitions(): readonly McpToolDefinition[];

  /**
   * Runs a tool.
   *
   * @param name Which one.
   * @param args What it is given; through MCP it was checked against the tool's `inputSchema`.
   * @param context What is known of the request, and what can be done beside answering it.
   * @returns A text, any JSON, content of its own making, or `{ error }`.
   * @throws {InvalidParamsError} When there is no such tool: `throw unknownTool(name)`. Any other error becomes a result
   * with `isError: true` that holds its message.
   */
  abstract executeMcpTool(name: string, args: JsonObject, context: RequestContext): ToolReturn | Promise<ToolReturn>;

  /** The prompts: none. Who lists some has to have `getMcpPrompt` too. */
  getMcpPrompts(): readonly Prompt[] {
    return [];
  }

  /**
   * Fills a prompt in.
   *
   * @throws {InvalidParamsError} Always, until it is overridden: there is no such prompt.
   */
  getMcpPrompt(
    name: string,
    _args: Record<string, string>,
    _context: RequestContext,
  ): PromptReturn | Promise<PromptReturn> {
    throw invalid(`Unknown prompt: ${excerpt(name, 200)}`);
  }

  /** The resources: none. Who lists some has to have `readMcpResource` too. */
  getMcpResources(): readonly Resource[] {
    return [];
  }

  /**
   * Reads a resource.
   *
   * @throws {InvalidParamsError} Always, until it is overridden: there is no such resource.
   */
  readMcpResource(uri: string, _context: RequestContext): ResourceReturn | Promise<ResourceReturn> {
    throw invalid(`Resource not found: ${excerpt(uri, 500)}`);
  }

  /** Who it is: `Causeway <ClassName>`, version 2.0.0. */
  getMcpServerInfo(): Implementation {
    return defaultServerInfo(this);
  }
}

/** What an agent is called that does not say so itself. */
export function defaultServerInfo(agent: object): Implementation {
  return { name: `Causeway ${classNameOf(agent)}`, version: "2.0.0" };
}

/**
 * What `executeMcpTool` throws for a name that it does not know.
 *
 * @returns An error with the code -32602 and the message `Unknown tool: <name>`.
 */
export function unknownTool(name: string): InvalidParamsError {
  return invalid(`Unknown tool: ${excerpt(name, 200)}`);
}

function invalid(message: string): InvalidParamsError {
  return new InvalidParamsError(message, { rpcCode: -32602 });
}
