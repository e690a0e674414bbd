/**
 * What a user says in OpenAI's form, as content.
 *
 * @module
 */
import { isObject } from "../../protocol/json_rpc.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { ContentBlock } from "../../protocol/types.ts";
import { type ChatMessage, ModelError, textOfMessage } from "../api_agent.ts";

/**
 * The content of a user's message.
 *
 * @param at Which message of the conversation it is.
 * @throws {ModelError} When a part is neither a text nor a picture that is there itself.
 */
export function readUserContent(message: ChatMessage, at: number): string | ContentBlock[] {
  const { content } = message;
  if (!Array.isArray(content)) return textOfMessage(message);
  return content.map((part: JsonObject, index): ContentBlock => {
    const { type, text, image_url: image } = part;
    if (type === "text" && typeof text === "string") return { type: "text", text };
    const url = type === "image_url" && isObject(image) ? image.url : undefined;
    const [, mimeType, data] = /^data:(image\/[\w.+-]+);base64,([A-Za-z\d+/=]+)$/.exec(String(url)) ?? [];
    if (mimeType !== undefined && data !== undefined) return { type: "image", mimeType, data };
    const param = `messages[${at}].content[${index}]`;
    throw new ModelError(`Invalid "${param}": expected a text, or a picture as a data: URL`, { status: 400, param });
  });
}
