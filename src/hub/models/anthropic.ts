/**
 * Anthropic's Messages API.
 *
 * @module
 */
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { GetPromptResult, ReadResourceResult } from "../../protocol/types.ts";
import type { HubLike } from "../seam.ts";
import { type ModelToolOutcome, runToolCalls, type RunToolOptions } from "./call/call.ts";
import { type ModelPart, partsOfBlocks, partsOfResource, partsOfResult } from "./parts.ts";
import { anthropicNames, listModelTools, type ModelToolsOptions } from "./tools.ts";

/** A tool of the Messages API. */
export interface AnthropicTool {
  /** What it is called. */
  name: string;
  /** What it does, for the model. */
  description: string;
  /** The JSON Schema of its arguments. */
  input_schema: JsonObject & { type: "object" };
}

/** A picture's type. */
export type AnthropicImageType = "image/png" | "image/jpeg" | "image/webp" | "image/gif";

/** A block of content. */
export type AnthropicBlock =
  | { type: "text"; text: string }
  | { type: "image"; source: { type: "base64"; media_type: AnthropicImageType; data: string } }
  | { type: "document"; source: { type: "base64"; media_type: "application/pdf"; data: string } };

/** The answer to a use of a tool. */
export interface AnthropicToolResult {
  /** Tells it from its like. */
  type: "tool_result";
  /** Which use it answers. */
  tool_use_id: string;
  /** What is said. */
  content: AnthropicBlock[];
  /** There when the tool failed and gave nothing but text. */
  is_error?: true;
}

/** The message of the user that answers the uses of tools. */
export interface AnthropicToolMessage {
  /** Who says it. */
  role: "user";
  /** What is said. */
  content: AnthropicToolResult[];
}

/** A message of a prompt. */
export interface AnthropicMessage {
  /** Who says it. */
  role: "user" | "assistant";
  /** What is said. */
  content: AnthropicBlock[];
}

/** A block of the model's message. */
export interface AnthropicOutputBlock {
  /** Only `tool_use` is run. */
  readonly type: string;
  /** Which call it is; its answer names it. */
  readonly id?: string | undefined;
  /** What it is called. */
  readonly name?: string | undefined;
  /** What the tool is given. */
  readonly input?: unknown;
}

const imageTypes: readonly AnthropicImageType[] = ["image/png", "image/jpeg", "image/webp", "image/gif"];
const known: ReadonlySet<string> = new Set([...imageTypes, "application/pdf"]);
const textOnly: ReadonlySet<string> = new Set();

/** The tools of a hub for Anthropic. A tool that requires a property whose name Anthropic refuses is left out and told. */
export function toAnthropicTools(hub: HubLike, options?: ModelToolsOptions): AnthropicTool[] {
  return listModelTools(hub, options, { propertyName: anthropicNames }).map(({ name, description, schema }) => (
    { name, description, input_schema: { ...schema, type: "object" } }
  ));
}

/**
 * Runs the uses of tools in a model's message and gives the message that answers them: append it to the conversation.
 *
 * @param content `message.content`; blocks of other types are passed over. Without one of `tool_use` the answer is empty.
 * @throws The signal's own reason, when it is aborted.
 */
export async function runAnthropicToolUses(
  hub: HubLike,
  content: readonly AnthropicOutputBlock[],
  options?: RunToolOptions,
): Promise<AnthropicToolMessage> {
  const uses = content.filter(({ type }) => type === "tool_use");
  const made = uses.map(({ id, name = "", input }) => ({ id, name, arguments: input }));
  return toAnthropicToolMessage(await runToolCalls(hub, made, options));
}

/** The message that answers uses of tools: all in one, as the API wants it. */
export function toAnthropicToolMessage(outcomes: readonly ModelToolOutcome[]): AnthropicToolMessage {
  return {
    role: "user",
    content: outcomes.map(({ call, result }) => {
      const content = partsOfResult(result, known).map(toBlock);
      // The API refuses pictures in an error. Its text says that it is one.
      const isError = result.isError === true && content.every(({ type }) => type === "text");
      return { type: "tool_result", tool_use_id: call.id ?? "", content, ...(isError && { is_error: true }) };
    }),
  };
}

/** A prompt as messages. What the assistant says is text here: its media become a line each. Empty texts are left out. */
export function toAnthropicMessages(prompt: GetPromptResult): AnthropicMessage[] {
  return prompt.messages.flatMap(({ role, content }) => {
    const blocks = blocksOf(partsOfBlocks([content], role === "assistant" ? textOnly : known));
    return blocks.length > 0 ? [{ role, content: blocks }] : [];
  });
}

/** A resource that was read, as blocks of a user's message. */
export function toAnthropicContent(resource: ReadResourceResult): AnthropicBlock[] {
  return blocksOf(partsOfResource(resource, known));
}

/** The API refuses blocks of blanks. */
function blocksOf(parts: readonly ModelPart[]): AnthropicBlock[] {
  return parts.filter((part) => part.kind !== "text" || part.text.trim() !== "").map(toBlock);
}

function toBlock(part: ModelPart): AnthropicBlock {
  if (part.kind === "text") return { type: "text", text: part.text };
  const { mediaType, data } = part;
  const media_type = imageTypes.find((type) => type === mediaType);
  if (media_type) return { type: "image", source: { type: "base64", media_type, data } };
  return { type: "document", source: { type: "base64", media_type: "application/pdf", data } };
}
