/**
 * A tool's result for people.
 *
 * @module
 */
import { isObject } from "../../protocol/json_rpc.ts";
import type { CallToolResult, ContentBlock } from "../../protocol/mod.ts";
import { oneLine, plain, plainJson } from "./plain.ts";

/**
 * The content, one block after the other; what is no text is named. Structured content is shown when there is no text
 * that says the same.
 */
export function resultText(result: CallToolResult): string {
  const blocks = (result.content ?? []).map(blockText);
  const more = unsaid(result);
  if (more !== undefined) blocks.push(plainJson(more));
  return blocks.map((text) => text.endsWith("\n") ? text : text + "\n").join("");
}

/** The structured content that no text says. */
export function unsaid({ content, structuredContent }: CallToolResult): unknown {
  // Beside content null is what some servers say that have nothing to say.
  if (structuredContent === undefined || (structuredContent === null && content?.length)) return undefined;
  const isSaid = saidBy(content, structuredContent) || saidBy(content, wrappedIn(structuredContent));
  return isSaid ? undefined : structuredContent;
}

/** What stands under `result` alone: servers in Python put there what is no object, and say it bare in their texts. */
function wrappedIn(structured: unknown): unknown {
  return isObject(structured) && Object.keys(structured).join() === "result" ? structured.result : undefined;
}

/** Whether one block says all of a value, or each block says one item of a list. */
function saidBy(content: readonly ContentBlock[] = [], value: unknown): boolean {
  if (value === undefined) return false;
  // Written once: there may be very many blocks.
  const json = JSON.stringify(value);
  if (content.some((block) => says(block, value, json))) return true;
  return Array.isArray(value) && value.length > 0 && value.length === content.length &&
    content.every((block, index) => says(block, value[index], JSON.stringify(value[index])));
}

/** Whether a value has a whole number that may have been another one as JSON: beyond 2^53 last digits are lost. From 1e21 on it is no id. */
export function hasRounded(value: unknown): boolean {
  if (typeof value === "number") {
    return Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 1e21;
  }
  return typeof value === "object" && value !== null && Object.values(value).some(hasRounded);
}

function says(block: ContentBlock, value: unknown, json: string): boolean {
  if (block.type !== "text") return false;
  if (block.text === value) return true;
  try {
    return JSON.stringify(JSON.parse(block.text)) === json;
  } catch {
    return false;
  }
}

function blockText(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return plain(block.text);
    case "image":
    case "audio":
      return `[${block.type} ${oneLine(block.mimeType)}, ${bytesOf(block.data)} bytes: --json gives the data]`;
    case "resource_link":
      return `[resource ${oneLine(block.uri)}]`;
    case "resource": {
      const { uri, mimeType, text, blob } = block.resource;
      if (typeof text === "string") return plain(text);
      const type = mimeType ? ` ${oneLine(mimeType)}` : "";
      return `[resource ${oneLine(uri)}${type}, ${bytesOf(blob ?? "")} bytes: --json gives the data]`;
    }
    default:
      return plainJson(block);
  }
}

/** The length of what base64 stands for. */
function bytesOf(base64: string): number {
  return Math.floor(base64.replace(/={1,2}$/, "").length * 3 / 4);
}
