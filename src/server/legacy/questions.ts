/**
 * How a legacy client is asked in its revision, and how its answers are read: nobody has checked them.
 *
 * @module
 */
import { ProtocolViolationError } from "../../protocol/errors.ts";
import { isObject } from "../../protocol/json_rpc.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { Revision } from "../../protocol/revisions.ts";
import type {
  CreateMessageRequest,
  CreateMessageResult,
  ElicitRequest,
  ElicitResult,
  Root,
} from "../../protocol/types.ts";
import { fitsForm, isModelMessage, isRoots } from "../common/client_answers.ts";
import type { ClientSide } from "./client_side.ts";
import { dressContent } from "./dress_content.ts";
import { withFields, without } from "./fields.ts";

/** A question to the user, as a revision has it. `makeId` names a page to visit that has no name yet. */
export function dressElicit(request: ElicitRequest, revision: Revision, makeId: () => string): JsonObject {
  if (request.mode === "url") return { elicitationId: makeId(), ...request };
  const { requestedSchema = { type: "object", properties: {} } } = request;
  if (revision >= "2025-11-25") return { ...request, requestedSchema };
  const properties = Object.entries(requestedSchema.properties).map(([name, field]) => [name, namedChoices(field)]);
  return {
    ...without(request, ["mode"]),
    requestedSchema: { ...requestedSchema, properties: Object.fromEntries(properties) },
  };
}

/** A question to a model, as a revision has it. Tasks are not asked for. */
export function dressSample(request: CreateMessageRequest, client: ClientSide): JsonObject {
  const params = without(request as unknown as JsonObject, ["task"]);
  const { revision, capabilities: { sampling } } = client;
  if (revision >= "2025-11-25") {
    const context = isObject(sampling) && isObject(sampling.context) || params.includeContext === "none";
    return context ? params : without(params, ["includeContext"]);
  }
  // A message had one part before 2025-11-25.
  const messages = request.messages.flatMap(({ content, role }) =>
    [content].flat().map((part) => ({ role, content: dressContent(part as unknown as JsonObject, revision) }))
  );
  return withFields(params, { messages });
}

/** @throws {ProtocolViolationError} When the client's answer is none, or does not fit the form. */
export function readElicit(answer: JsonObject, request: ElicitRequest): ElicitResult {
  const { action, content = {} } = answer;
  if (action === "decline" || action === "cancel") return { action };
  if (action !== "accept") throw unreadable("elicitation/create", "action");
  if (request.mode === "url") return { action };
  if (isObject(content) && fitsForm(content, request)) return { action, content: content as JsonObject };
  throw unreadable("elicitation/create", "content");
}

/** @throws {ProtocolViolationError} When the client's answer is none. */
export function readSample(answer: JsonObject): CreateMessageResult {
  if (isModelMessage(answer)) return answer as unknown as CreateMessageResult;
  throw unreadable("sampling/createMessage", "content");
}

/** @throws {ProtocolViolationError} When the client's answer is none. */
export function readRoots({ roots }: JsonObject): Root[] {
  if (isRoots(roots)) return roots as unknown as Root[];
  throw unreadable("roots/list", "roots");
}

/** Choices with names were two lists before 2025-11-25. */
function namedChoices(field: JsonObject): JsonObject {
  const { oneOf } = field;
  if (!Array.isArray(oneOf) || !oneOf.every(isObject)) return field;
  const choices = oneOf as { const?: string; title?: string }[];
  return {
    ...without(field, ["oneOf"]),
    enum: choices.map(({ const: value }) => value ?? ""),
    enumNames: choices.map(({ const: value, title }) => title ?? value ?? ""),
  };
}

function unreadable(method: string, field: string): ProtocolViolationError {
  return new ProtocolViolationError(`The client's answer to "${method}" has no usable "${field}"`, { method });
}
