/**
 * The shapes of content: of tools' results, of messages, and of resources.
 *
 * @module
 */
import { own } from "../json_schema/node.ts";
import { find, maybeNumber, maybeText, text } from "./shape.ts";
import type { Check, Fields } from "./shape.ts";

/** What has a name. */
export const named: Fields = { name: text, title: maybeText, description: maybeText };

/** A resource in a list. */
export const resource: Fields = { ...named, uri: text, mimeType: maybeText, size: maybeNumber };

/** The text or the bytes of a resource. */
export const contents: Check = (value) =>
  find(value, {
    uri: text,
    mimeType: maybeText,
    text: maybeText,
    blob: typeof value?.text === "string" ? maybeText : text,
  });

const media: Fields = { data: text, mimeType: text };
const blocks: Fields = {
  text: { text },
  image: media,
  audio: media,
  resource: { resource: contents },
  resource_link: resource,
};

/** Content. A type that is not known is let through: a newer server must not break an older client. */
export const block: Check = (value) => {
  const type = value?.type;
  return find(value, (typeof type === "string" && own(blocks, type)) || { type: text });
};
