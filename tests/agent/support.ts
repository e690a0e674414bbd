/** Agents for tests, and ways to ask them. */
import {
  type ChatMessage,
  McpAgent,
  type McpToolDefinition,
  type ModelContext,
  type ModelReturn,
  unknownTool,
  type WithApiAgent,
  withApiAgent,
} from "../../src/agent/mod.ts";
import type { JsonObject } from "../../src/protocol/mod.ts";
import type { ToolReturn } from "../../src/server/mod.ts";
import type { Prompt, Resource } from "../../src/protocol/types.ts";
import { heldRequest } from "../support/held_request.ts";

/** An agent with the two required methods and nothing else. */
export class PlainAgent extends McpAgent {
  getMcpToolDefinitions(): McpToolDefinition[] {
    return [
      { name: "first", description: "Says so", inputSchema: {} },
      { name: "second", inputSchema: {} },
      { name: "add", inputSchema: sum },
      { name: "fail" },
      { name: "refuse" },
      { name: "circle" },
    ];
  }

  executeMcpTool(name: string, args: JsonObject): ToolReturn | Promise<ToolReturn> {
    if (name === "first" || name === "second") return { said: name, args };
    if (name === "add") return Promise.resolve(Number(args.a) + Number(args.b));
    if (name === "fail") throw new Error("it is broken");
    if (name === "refuse") return { error: "it will not" };
    if (name === "circle") return circle();
    throw unknownTool(name);
  }
}

const sum = {
  type: "object",
  properties: { a: { type: "number" }, b: { type: "number" } },
  required: ["a", "b"],
};

function circle(): JsonObject {
  const value: JsonObject = {};
  value.self = value;
  return value;
}

/** An agent with everything. */
export class RichAgent extends PlainAgent {
  override getMcpPrompts(): Prompt[] {
    return [{ name: "greet", description: "Greets", arguments: [{ name: "who", required: true }] }];
  }

  override getMcpPrompt(_name: string, { who }: Record<string, string>): string {
    return `Greet ${who}`;
  }

  override getMcpResources(): Resource[] {
    return [{ uri: "rich://one", name: "one", mimeType: "text/markdown" }];
  }

  override readMcpResource(uri: string): string {
    return `# ${uri}`;
  }

  override getMcpServerInfo(): { name: string; version: string; description: string } {
    return { name: "Rich", version: "7.0.0", description: "has it all" };
  }
}

const Base: WithApiAgent<typeof PlainAgent> = withApiAgent(PlainAgent);

/** An agent that is a model too; what it answers is chosen by the test. */
export class BothAgent extends Base {
  readonly #respond: (messages: readonly ChatMessage[], context: ModelContext) => ModelReturn | Promise<ModelReturn>;

  constructor(
    respond: (messages: readonly ChatMessage[], context: ModelContext) => ModelReturn | Promise<ModelReturn> = () =>
      "hello",
  ) {
    super();
    this.#respond = respond;
  }

  respond(messages: readonly ChatMessage[], context: ModelContext): ModelReturn | Promise<ModelReturn> {
    return this.#respond(messages, context);
  }
}

/** A POST with JSON for its body. */
export function post(
  path: string,
  body: unknown,
  init: RequestInit & { headers?: Record<string, string> } = {},
): Request {
  return heldRequest(`http://localhost${path}`, {
    ...init,
    method: "POST",
    headers: { "content-type": "application/json", ...init.headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

/** A GET. */
export function get(path: string, headers: Record<string, string> = {}): Request {
  return heldRequest(`http://localhost${path}`, { headers });
}

/** A chat with one message of the user. */
export function chat(more: JsonObject = {}): JsonObject {
  return { model: "causeway-both", messages: [{ role: "user", content: "hi there" }], ...more };
}

/** The data of a stream of events, and the comments in it. */
export async function events(response: Response): Promise<{ data: string[]; comments: number }> {
  const text = await response.text();
  const blocks = text.split("\n\n").filter((block) => block !== "");
  const data = blocks.filter((block) => block.startsWith("data: ")).map((block) => block.slice("data: ".length));
  return { data, comments: blocks.filter((block) => block.startsWith(":")).length };
}

/** The status and the error of a reply. */
export async function errorOf(
  response: Response,
): Promise<{ status: number; message: string; type: string; param: string | null; code: string | null }> {
  const { error } = await response.json();
  return { status: response.status, ...error };
}
