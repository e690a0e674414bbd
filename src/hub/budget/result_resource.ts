/**
 * A kept result as a resource: `causeway://results/<id>`, one part of it (`…/0`), or a piece of a part (`…/0?from=100&to=200`).
 *
 * @module
 */
import { InvalidParamsError } from "../../protocol/errors.ts";
import type { CallToolResult, ContentBlock, ReadResourceResult, ResourceContents } from "../../protocol/types.ts";
import { boundary } from "./cut.ts";

/** What the URIs of kept results begin with. */
export const resultsUri = "causeway://results/";

/** The name of a kept result, or of a part of it. */
export interface ResultName {
  readonly id: string;
  readonly part: string | undefined;
  readonly from: number;
  readonly to: number;
  /** Whether only a piece is asked for. */
  readonly isPiece: boolean;
}

/**
 * Reads a URI.
 *
 * @returns Undefined when it is none of a result.
 * @throws {InvalidParamsError} When it begins like one and goes on otherwise.
 */
export function parseResultUri(uri: string): ResultName | undefined {
  if (!uri.startsWith(resultsUri)) return undefined;
  const found = /^([\da-f]{32})(?:\/(\d+|structured))?(?:\?(?:from=(\d{1,15}))?&?(?:to=(\d{1,15}))?)?$/.exec(
    uri.slice(resultsUri.length),
  );
  const [, id, part, from, to] = found ?? [];
  const isPiece = from !== undefined || to !== undefined;
  if (id === undefined || (isPiece && part === undefined)) throw unknown(uri);
  return { id, part, from: Number(from ?? 0), to: to === undefined ? Infinity : Number(to), isPiece };
}

/**
 * What of a result is asked for. Pieces that follow each other give the whole text again.
 *
 * @throws {InvalidParamsError} When there is no such part, or a piece of bytes is asked for.
 */
export function readResult(result: CallToolResult, name: ResultName, uri: string): ReadResourceResult {
  const { content = [], structuredContent } = result;
  const base = `${resultsUri}${name.id}/`;
  const all = content.map((block, at) => contentsOf(block, `${base}${at}`));
  if (structuredContent !== undefined) all.push(json(`${base}structured`, structuredContent));
  if (name.part === undefined) return { contents: all };
  const found = all.find((contents) => contents.uri === base + name.part);
  if (!found) throw unknown(uri);
  if (!name.isPiece) return { contents: [found] };
  const { text } = found;
  if (text === undefined) {
    throw new InvalidParamsError(`Cannot read a piece of "${base}${name.part}": it is no text, read it as a whole`);
  }
  const from = boundary(text, name.from);
  const to = boundary(text, Math.min(name.to, text.length));
  return { contents: [{ ...found, uri, text: text.slice(from, Math.max(from, to)) }] };
}

/** The error for what is not there. */
export function unknown(uri: string): InvalidParamsError {
  return new InvalidParamsError(`Cannot read "${uri.slice(0, 200)}": there is no such result, or its time is over`);
}

function contentsOf(block: ContentBlock, uri: string): ResourceContents {
  switch (block.type) {
    case "text":
      return { uri, mimeType: "text/plain", text: block.text };
    case "image":
    case "audio":
      return { uri, mimeType: block.mimeType, blob: block.data };
    case "resource":
      return {
        ...said(block.resource),
        uri,
        _meta: { ...block.resource._meta, "dev.causeway/uri": block.resource.uri },
      };
    default:
      return json(uri, block);
  }
}

/** Without what is null: some servers say so where they have nothing to say. */
function said(contents: ResourceContents): Partial<ResourceContents> {
  return Object.fromEntries(Object.entries(contents).filter(([, value]) => value !== null));
}

function json(uri: string, value: unknown): ResourceContents {
  return { uri, mimeType: "application/json", text: JSON.stringify(value) };
}
