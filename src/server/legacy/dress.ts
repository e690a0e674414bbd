/**
 * Makes a result readable for clients of older revisions: what a revision does not know is left out or said in text.
 *
 * @module
 */
import { isObject } from "../../protocol/json_rpc.ts";
import type { JsonObject, JsonValue } from "../../protocol/json_rpc.ts";
import type { Revision } from "../../protocol/revisions.ts";
import type { Dress } from "../seam.ts";
import { dressContent, dressContents } from "./dress_content.ts";
import { mapped, withFields, without } from "./fields.ts";

/**
 * Dresses the plain result of a method for a legacy revision (S-075). A result that this revision reads as it is comes
 * back as it is; the given one is never changed.
 */
export const dressResult: Dress = (method, result, revision) => {
  const plain = without(result, ["resultType", "ttlMs", "cacheScope"]);
  switch (method) {
    case "tools/list":
      return mapped(plain, "tools", (tool) => dressTool(tool, revision));
    case "tools/call":
      return dressCall(plain, revision);
    case "resources/list":
      return mapped(plain, "resources", (resource) => dressListed(resource, revision));
    case "resources/templates/list":
      return mapped(plain, "resourceTemplates", (template) => dressListed(template, revision));
    case "resources/read":
      return mapped(plain, "contents", (contents) => dressContents(contents, revision));
    case "prompts/list":
      return mapped(plain, "prompts", (prompt) => dressPrompt(prompt, revision));
    case "prompts/get":
      return mapped(
        plain,
        "messages",
        (message) =>
          isObject(message.content)
            ? withFields(message, { content: dressContent(message.content as JsonObject, revision) })
            : message,
      );
    default:
      return plain;
  }
};

/** Who the server says it is, with the fields that a revision has. */
export function dressInfo(info: JsonObject, revision: Revision): JsonObject {
  const newer = revision < "2025-11-25" ? ["description", "websiteUrl", "icons"] : [];
  return without(info, revision < "2025-06-18" ? ["title", ...newer] : newer);
}

/** What the server declares, with the fields that a revision has. */
export function dressCapabilities(capabilities: JsonObject, revision: Revision): JsonObject {
  const later = revision < "2025-03-26" ? ["completions"] : [];
  return without(capabilities, ["extensions", "tasks", ...later]);
}

function dressTool(tool: JsonObject, revision: Revision): JsonObject {
  const { outputSchema } = tool;
  const odd = isObject(outputSchema) && outputSchema.type === "object" ? [] : ["outputSchema"];
  const hints = revision < "2025-03-26" ? ["annotations"] : [];
  const schemas = revision < "2025-06-18" ? ["outputSchema"] : odd;
  const later = revision < "2025-11-25" ? ["execution"] : [];
  return without(dressNamed(tool, revision), [...hints, ...schemas, ...later]);
}

function dressPrompt(prompt: JsonObject, revision: Revision): JsonObject {
  const dressed = dressNamed(prompt, revision);
  return revision < "2025-06-18" ? mapped(dressed, "arguments", (argument) => without(argument, ["title"])) : dressed;
}

/** A resource or a template. */
function dressListed(item: JsonObject, revision: Revision): JsonObject {
  const named = dressNamed(item, revision);
  if (revision >= "2025-06-18" || !isObject(named.annotations)) return named;
  return withFields(named, { annotations: without(named.annotations as JsonObject, ["lastModified"]) });
}

/** What has a name has had a title since 2025-06-18 and pictures since 2025-11-25. */
function dressNamed(item: JsonObject, revision: Revision): JsonObject {
  if (revision >= "2025-11-25") return item;
  return without(item, revision < "2025-06-18" ? ["title", "_meta", "icons"] : ["icons"]);
}

function dressCall(result: JsonObject, revision: Revision): JsonObject {
  const { structuredContent, content } = result;
  // As the newest of them reads it.
  if (structuredContent === undefined && revision >= "2025-11-25") return result;
  const dressed = mapped(result, "content", (block) => dressContent(block, revision));
  if (structuredContent === undefined) return dressed;
  // Who cannot read the structured part, or does not look at it, still gets to see it.
  const full = Array.isArray(content) && content.length > 0
    ? dressed
    : withFields(dressed, { content: [{ type: "text", text: JSON.stringify(structuredContent) }] });
  if (revision < "2025-06-18") return without(full, ["structuredContent"]);
  return withFields(full, { structuredContent: wrapped(structuredContent) });
}

function wrapped(value: JsonValue): JsonObject {
  return isObject(value) ? value as JsonObject : { result: value };
}
