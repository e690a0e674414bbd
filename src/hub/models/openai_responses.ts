/**
 * OpenAI's Responses API.
 *
 * @module
 */
import type { GetPromptResult, ReadResourceResult } from "../../protocol/types.ts";
import type { HubLike } from "../seam.ts";
import { type ModelToolOutcome, runToolCalls, type RunToolOptions } from "./call/call.ts";
import { dataUrl, fileName, type ModelPart, partsOfBlocks, partsOfResource, partsOfResult, textOf } from "./parts.ts";

/** A part of an answer or of a user's message. */
export type OpenAiInputPart =
  | { type: "input_text"; text: string }
  | { type: "input_image"; image_url: string; detail: "auto" }
  | { type: "input_file"; filename: string; file_data: string };

/** The answer to a function call. */
export interface OpenAiFunctionOutput {
  /** Tells it from its like. */
  type: "function_call_output";
  /** Which call it is, or answers. */
  call_id: string;
  /** What the tool gave. */
  output: string | OpenAiInputPart[];
}

/** A message of the input. */
export interface OpenAiInputMessage {
  /** Who says it. */
  role: "user" | "assistant";
  /** What is said. */
  content: string | OpenAiInputPart[];
}

/** An item of the model's output. */
export interface OpenAiOutputItem {
  /** Only `function_call` is run. */
  readonly type: string;
  /** Which call it is, or answers. */
  readonly call_id?: string | null | undefined;
  /** What it is called. */
  readonly name?: string | undefined;
  /** What the tool is given. */
  readonly arguments?: unknown;
}

/** No sounds: answers of functions take none. */
const known: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/webp",
  "image/gif",
  "application/pdf",
]);
const textOnly: ReadonlySet<string> = new Set();

/**
 * Runs the function calls of a response and gives the items that answer them: the input of the next request.
 *
 * @param output `response.output`; items of other types are passed over.
 * @throws The signal's own reason, when it is aborted.
 */
export async function runOpenAiFunctionCalls(
  hub: HubLike,
  output: readonly OpenAiOutputItem[],
  options?: RunToolOptions,
): Promise<OpenAiFunctionOutput[]> {
  const calls = output.filter(({ type }) => type === "function_call");
  const made = calls.map(({ call_id, name = "", arguments: given }) => ({
    id: call_id ?? undefined,
    name,
    arguments: given,
  }));
  return toOpenAiFunctionOutputs(await runToolCalls(hub, made, options));
}

/** The items that answer function calls: a text where there is nothing else. */
export function toOpenAiFunctionOutputs(outcomes: readonly ModelToolOutcome[]): OpenAiFunctionOutput[] {
  return outcomes.map(({ call, result }) => {
    const output = contentOf(partsOfResult(result, known));
    return { type: "function_call_output", call_id: call.id ?? "", output };
  });
}

/** A prompt as messages of the input. What the assistant says is text here: its media become a line each. */
export function toOpenAiInput(prompt: GetPromptResult): OpenAiInputMessage[] {
  return prompt.messages.map(({ role, content }) => {
    if (role === "assistant") return { role, content: textOf(partsOfBlocks([content], textOnly)) };
    return { role: "user", content: contentOf(partsOfBlocks([content], known)) };
  });
}

/** A resource that was read, as parts of a user's message. */
export function toOpenAiInputContent(resource: ReadResourceResult): OpenAiInputPart[] {
  return partsOfResource(resource, known).map(toPart);
}

function contentOf(parts: readonly ModelPart[]): string | OpenAiInputPart[] {
  return parts.every(({ kind }) => kind === "text") ? textOf(parts) : parts.map(toPart);
}

function toPart(part: ModelPart): OpenAiInputPart {
  if (part.kind === "text") return { type: "input_text", text: part.text };
  if (part.kind === "image") return { type: "input_image", image_url: dataUrl(part), detail: "auto" };
  return { type: "input_file", filename: fileName(part), file_data: dataUrl(part) };
}
