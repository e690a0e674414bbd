/**
 * A tool's result for people.
 *
 * @module
 */
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
  // Written once: there may be very many blocks.
  const json = JSON.stringify(structuredContent);
  return content?.some((block) => says(block, json)) ? undefined : structuredContent;
}

/** Whether a value has a whole number that may have been another one as JSON: beyond 2^53 last digits are lost. From 1e21 on it is no id. */
export function hasRounded(value: unknown): boolean {
  if (typeof value === "number") {
    return Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 1e21;
  }
  return typeof value === "object" && value !== null && Object.values(value).some(hasRounded);
}

function says(block: ContentBlock, json: string): boolean {
  if (block.type !== "text") return false;
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
