/**
 * The part of a result that fits a budget.
 *
 * @module
 */
import type { CallToolResult, ContentBlock } from "../../protocol/types.ts";

/** How much of a result may be shown. */
export interface Budget {
  /** The most text, in `unit`. */
  readonly limit: number;
  readonly unit: "characters" | "tokens";
  /** The most bytes of pictures, sounds and files together. */
  readonly mediaLimit: number;
}

/** A result that was cut. */
export interface Cut {
  readonly result: CallToolResult;
  /** Characters that are shown, and that there are. */
  readonly shown: number;
  readonly total: number;
  /** Pictures, sounds and files that are left out. */
  readonly media: number;
  /** Whether the structured content is left out. */
  readonly structured: boolean;
  /** Where the text goes on: the part, and how many of its characters were shown. */
  readonly next: { readonly part: number | "structured"; readonly from: number } | undefined;
}

/** Whether a result is texts alone and far from the limit, as most are. */
function isSmall({ content = [], structuredContent }: CallToolResult, { limit, unit }: Budget): boolean {
  let left = structuredContent === undefined && unit === "characters" ? limit : -1;
  for (const block of content) left -= textOf(block)?.length ?? Infinity;
  return left >= 0;
}

/**
 * Cuts a result: texts from the front as far as the budget goes, media as long as there is room for them.
 *
 * @returns Undefined when all of it fits.
 */
export function cutResult(result: CallToolResult, budget: Budget): Cut | undefined {
  if (isSmall(result, budget)) return undefined;
  const { content = [], structuredContent, ...rest } = result;
  const json = structuredContent === undefined ? "" : JSON.stringify(structuredContent);
  const hasText = content.some((block) => textOf(block) !== undefined);
  const structured = json !== "" && costOf(json, budget.unit) > budget.limit;
  const kept: ContentBlock[] = [];
  let { limit: room, mediaLimit: mediaRoom } = budget;
  let [shown, total, media] = [0, 0, 0];
  let next: Cut["next"];
  const take = (text: string, part: number | "structured"): string => {
    total += text.length;
    const end = next ? 0 : fitting(text, room, budget.unit);
    if (end < text.length) next ??= { part, from: end };
    room -= costOf(text.slice(0, end), budget.unit);
    shown += end;
    return text.slice(0, end);
  };
  content.forEach((block, part) => {
    const text = textOf(block);
    if (text !== undefined) {
      const some = take(text, part);
      if (some.length === text.length) kept.push(block);
      else if (some !== "") kept.push(withText(block, some));
      return;
    }
    const bytes = bytesOf(block);
    if (bytes > mediaRoom) media++;
    else {
      kept.push(block);
      mediaRoom -= bytes;
    }
  });
  if (structured && !hasText) kept.unshift({ type: "text", text: take(json, "structured") });
  if (!structured && !next && media === 0) return undefined;
  const keepsStructured = structuredContent !== undefined && !structured;
  return {
    result: { ...rest, content: kept, ...(keepsStructured && { structuredContent }) },
    shown,
    total,
    media,
    structured,
    next,
  };
}

/** Where a text may be parted at a place or right behind it: never inside of a character. */
export function boundary(text: string, at: number): number {
  const isInside = at > 0 && at < text.length && /[\ud800-\udbff]/.test(text.charAt(at - 1)) &&
    /[\udc00-\udfff]/.test(text.charAt(at));
  return isInside ? at + 1 : at;
}

/**
 * What a text costs. A token is about four characters of plain English, and about one of most other scripts: an estimate
 * that rather is too high.
 */
export function costOf(text: string, unit: Budget["unit"]): number {
  if (unit === "characters") return text.length;
  let cost = 0;
  for (let at = 0; at < text.length; at++) cost += tokensOf(text.charCodeAt(at));
  return cost;
}

function tokensOf(code: number): number {
  return code < 128 ? 0.25 : code < 0x250 ? 0.5 : 1;
}

/** How many characters of a text fit into some room. */
export function fitting(text: string, room: number, unit: Budget["unit"]): number {
  let end = 0;
  if (unit === "characters") end = Math.min(text.length, Math.max(0, Math.floor(room)));
  else for (let rest = room; end < text.length && (rest -= tokensOf(text.charCodeAt(end))) >= 0; end++);
  const whole = boundary(text, end);
  return whole > end ? end - 1 : end;
}

/** The text of a block; undefined for media. */
export function textOf(block: ContentBlock): string | undefined {
  switch (block.type) {
    case "text":
      return block.text;
    case "resource":
      return typeof block.resource.blob === "string" ? undefined : block.resource.text ?? "";
    case "image":
    case "audio":
      return undefined;
    default:
      return JSON.stringify(block);
  }
}

/** A block with less text. */
function withText(block: ContentBlock, text: string): ContentBlock {
  if (block.type === "text") return { ...block, text };
  if (block.type === "resource") return { ...block, resource: { ...block.resource, text } };
  return { type: "text", text };
}

function bytesOf(block: ContentBlock): number {
  if (block.type === "resource") return byteLength(block.resource.blob ?? "");
  return block.type === "image" || block.type === "audio" ? byteLength(block.data) : 0;
}

/** How many bytes base64 stands for. */
export function byteLength(base64: string): number {
  return Math.floor(base64.length * 3 / 4) - (base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0);
}
