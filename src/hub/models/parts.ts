/**
 * What tools, prompts and resources give, as text and media that the API of a model knows.
 *
 * @module
 */
import { wellFormed } from "./well_formed.ts";
import type { CallToolResult, ContentBlock, ReadResourceResult, ResourceContents } from "../../protocol/types.ts";

/** A text for a model. */
export interface TextPart {
  readonly kind: "text";
  readonly text: string;
}

/** A picture, a sound or a file for a model. */
export interface MediaPart {
  readonly kind: "image" | "audio" | "file";
  /** In lower case, without parameters, such as `image/png`. */
  readonly mediaType: string;
  /** Base64. */
  readonly data: string;
  /** What it is called: the URI of a resource. */
  readonly name?: string | undefined;
}

/** What a model is given. */
export type ModelPart = TextPart | MediaPart;

/** Which media an API takes, by their types. */
export type KnownMedia = ReadonlySet<string>;

/** What most APIs take: pictures, sounds and PDF files. */
export const commonMedia: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/webp",
  "image/gif",
  "audio/wav",
  "audio/mpeg",
  "application/pdf",
]);

/** What stands for a result that has nothing in it. */
const nothing = "(the tool gave nothing)";
const errorPrefix = "Tool error: ";

/**
 * The parts of a tool's result. Structured content is given only where there is no text: with text it would stand twice. A
 * failed tool's text begins with `Tool error: `. Media that the API does not take become a line of text.
 */
export function partsOfResult(result: CallToolResult, known: KnownMedia): ModelPart[] {
  const { content = [], structuredContent, isError } = result;
  const parts = partsOfBlocks(content, known);
  const hasText = content.some((block) => {
    const said = block.type === "text" ? block.text : block.type === "resource" ? block.resource.text : undefined;
    // Some servers say null where they have nothing to say.
    return typeof said === "string" && said.trim() !== "";
  });
  const isSaid = structuredContent === null ? parts.length === 0 && !isError : structuredContent !== undefined;
  if (!hasText && isSaid) parts.unshift(text(JSON.stringify(wellFormed(structuredContent))));
  const filled = parts.filter((part) => part.kind !== "text" || part.text.trim() !== "");
  if (!isError) return filled.length > 0 ? filled : [text(nothing)];
  const first = filled.findIndex(({ kind }) => kind === "text");
  const said = filled[first];
  if (said?.kind !== "text") return [text(errorPrefix + "it does not say why"), ...filled];
  return filled.with(first, text(said.text.startsWith(errorPrefix) ? said.text : errorPrefix + said.text));
}

/** The parts of content. */
export function partsOfBlocks(blocks: readonly ContentBlock[], known: KnownMedia): ModelPart[] {
  return blocks.map((block) => partOfBlock(block, known));
}

/** The parts of a resource that was read. */
export function partsOfResource(result: ReadResourceResult, known: KnownMedia): ModelPart[] {
  return result.contents.map((contents) => partOfContents(contents, known));
}

/** The texts of parts, one below the other. */
export function textOf(parts: readonly ModelPart[]): string {
  return parts.flatMap((part) => part.kind === "text" ? [part.text] : []).join("\n");
}

/** All texts as one, then the media: some of the AI SDK's providers make an answer of their own of each text. */
export function textFirst(parts: readonly ModelPart[]): [TextPart, ...MediaPart[]] {
  return [text(textOf(parts) || "(what the tool gave stands beside this)"), ...mediaOf(parts)];
}

/** The media among parts. */
export function mediaOf(parts: readonly ModelPart[]): MediaPart[] {
  return parts.filter((part) => part.kind !== "text");
}

/** The URL that holds a picture, a sound or a file itself. */
export function dataUrl({ mediaType, data }: MediaPart): string {
  return `data:${mediaType};base64,${data}`;
}

/** A name for a file, from the last part of its URI. */
export function fileName({ name = "", mediaType }: MediaPart): string {
  const last = name.replace(/[?#].*$/s, "").split("/").at(-1)?.replace(/[^\w.-]+/g, "_") ?? "";
  if (/^[\w-][\w.-]*\.\w+$/.test(last)) return last.slice(-100);
  return `${last.replace(/^\.+/, "").slice(0, 80) || "file"}.${mediaType.split(/[/+.-]/).at(-1)}`;
}

function partOfBlock(block: ContentBlock, known: KnownMedia): ModelPart {
  switch (block.type) {
    case "text":
      return text(block.text);
    case "image":
    case "audio":
      return media({ type: block.mimeType, data: block.data, what: block.type }, known);
    case "resource":
      return partOfContents(block.resource, known);
    case "resource_link": {
      const { uri, name, title, description, mimeType, size } = block;
      // Some servers say null where they have nothing to say.
      const facts = [uri, mimeType, typeof size === "number" && `${size} bytes`].filter(Boolean);
      return text(`[resource "${title ?? name}": ${facts.join(", ")}]${description ? ` ${description}` : ""}`);
    }
    default:
      // A newer server's kind of content: better seen as it is than lost.
      return text(JSON.stringify(block));
  }
}

function partOfContents({ uri, mimeType, text: content, blob }: ResourceContents, known: KnownMedia): ModelPart {
  if (typeof blob !== "string") return text(`[resource ${uri}${mimeType ? `, ${mimeType}` : ""}]\n${content ?? ""}`);
  return media({ type: mimeType ?? "application/octet-stream", data: blob, what: "resource", name: uri }, known);
}

function media(
  { type, data, what, name }: { type: string; data: string; what: string; name?: string },
  known: KnownMedia,
): ModelPart {
  const mediaType = plainType(type);
  const named = name === undefined ? what : `${what} ${name}`;
  const bytes = Math.floor(data.length * 3 / 4) - (data.endsWith("==") ? 2 : data.endsWith("=") ? 1 : 0);
  if (!isBase64(data)) return text(`[${named}, ${mediaType}: not shown, since its data are not base64]`);
  if (!known.has(mediaType)) {
    return text(`[${named}, ${mediaType}, ${bytes} bytes: not shown, since this model takes no such type]`);
  }
  const kind = mediaType.startsWith("image/") ? "image" : mediaType.startsWith("audio/") ? "audio" : "file";
  return { kind, mediaType, data, ...(name !== undefined && { name }) };
}

/** A type without parameters, in the words that providers use. */
function plainType(type: string): string {
  const plain = type.replace(/;.*$/s, "").trim().toLowerCase();
  const same = new Map([
    ["image/jpg", "image/jpeg"],
    ["audio/mp3", "audio/mpeg"],
    ["audio/x-wav", "audio/wav"],
    ["audio/wave", "audio/wav"],
  ]);
  return same.get(plain) ?? plain;
}

function isBase64(data: string): boolean {
  return data.length > 0 && data.length % 4 === 0 && /^[A-Za-z\d+/]+={0,2}$/.test(data);
}

function text(content: string): TextPart {
  return { kind: "text", text: wellFormed(content) };
}
