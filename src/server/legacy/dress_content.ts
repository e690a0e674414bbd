/**
 * Content for older revisions: kinds that they do not know become text.
 *
 * @module
 */
import { isObject } from "../../protocol/json_rpc.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { Revision } from "../../protocol/revisions.ts";
import { withFields, without } from "./fields.ts";

/** A part of a tool's result, a prompt's message or a question to a model, as a revision has it. */
export function dressContent(block: JsonObject, revision: Revision): JsonObject {
  if (revision >= "2025-11-25") return block;
  const { type } = block;
  if (type === "resource_link") {
    return revision < "2025-06-18" ? saidOfLink(block, revision) : without(block, ["icons"]);
  }
  if (type === "audio" && revision < "2025-03-26") return saidOfAudio(block, revision);
  if (revision >= "2025-06-18") return block;
  const plain = dressHints(without(block, ["_meta"]));
  return type === "resource" && isObject(plain.resource)
    ? withFields(plain, { resource: dressContents(plain.resource as JsonObject, revision) })
    : plain;
}

/** The text or bytes of a resource, as a revision has them. */
export function dressContents(contents: JsonObject, revision: Revision): JsonObject {
  return revision < "2025-06-18" ? without(contents, ["_meta"]) : contents;
}

function saidOfLink(link: JsonObject, revision: Revision): JsonObject {
  const { uri, name, title, description } = link;
  const label = title ?? name;
  const text = `${label === undefined ? "" : `${label}: `}${uri}${description === undefined ? "" : `\n${description}`}`;
  return asText(text, link, revision);
}

function saidOfAudio(audio: JsonObject, revision: Revision): JsonObject {
  return asText(`[audio, ${audio.mimeType}: this revision of the protocol cannot carry it]`, audio, revision);
}

function asText(text: string, { annotations }: JsonObject, revision: Revision): JsonObject {
  return dressContent({ type: "text", text, ...(annotations !== undefined && { annotations }) }, revision);
}

/** Annotations have had `lastModified` since 2025-06-18. */
function dressHints(block: JsonObject): JsonObject {
  const { annotations } = block;
  if (!isObject(annotations) || !("lastModified" in annotations)) return block;
  return withFields(block, { annotations: without(annotations as JsonObject, ["lastModified"]) });
}
