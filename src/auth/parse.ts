/**
 * Texts that should hold a JSON object: documents of authorization servers, parts of tokens, messages that were kept.
 *
 * @module
 */
import { isObject } from "../protocol/json_rpc.ts";

/** The JSON object that a text is; undefined where it is none. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
