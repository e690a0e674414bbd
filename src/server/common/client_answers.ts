/**
 * Whether what a client answered to a question is an answer: nobody has checked it.
 *
 * @module
 */
import { isObject } from "../../protocol/json_rpc.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import { createPlainValidator } from "../../protocol/json_schema/mod.ts";
import type { ElicitRequest } from "../../protocol/types.ts";

/** Whether a form was filled in as it asks. One that cannot be checked is the author's doing: all fits it. */
export function fitsForm(content: Record<string, unknown>, { requestedSchema }: ElicitRequest): boolean {
  if (!requestedSchema) return true;
  try {
    return createPlainValidator()(requestedSchema as JsonObject)(content).valid;
  } catch {
    return true;
  }
}

/** Whether it is a message of a model. */
export function isModelMessage({ role, content, model }: Record<string, unknown>): boolean {
  return (role === "assistant" || role === "user") && typeof model === "string" &&
    [content].flat().every((part) => isObject(part) && typeof part.type === "string");
}

/** Whether it is a list of roots. */
export function isRoots(roots: unknown): boolean {
  return Array.isArray(roots) && roots.every((root) => isObject(root) && typeof root.uri === "string");
}
