/**
 * Elicitation: a server asks the user (specification: client, Elicitation).
 *
 * @module
 */
import { excerpt } from "../../protocol/excerpt.ts";
import { isObject } from "../../protocol/json_rpc.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { ElicitRequest } from "../../protocol/types.ts";
import type { SchemaValidator, Validation } from "../../protocol/validation.ts";
import type { HandlerContext, Handlers } from "./seam.ts";

/** The handler for this request's mode, made ready; undefined when there is none. A missing mode means `form`. */
export function answerElicitation(
  handlers: Handlers,
  request: ElicitRequest,
  validator: SchemaValidator | undefined,
): ((context: HandlerContext) => Promise<JsonObject>) | undefined {
  const mode = request.mode ?? "form";
  const handler = mode === "form" ? handlers.elicitation : mode === "url" ? handlers.elicitationUrl : undefined;
  return handler && (async (context) => {
    const { action, content } = await handler(request, context);
    if (!/^(accept|decline|cancel)$/.test(action)) throw unfit(request, '"action" is not accept, decline or cancel');
    if (action !== "accept" || mode === "url") return { action };
    const filled = withDefaults(request, content ?? {});
    checkAnswer(request, filled, validator);
    return { action, content: filled };
  });
}

/** What does not fit the form is not sent. A form that cannot be checked is the server's doing: its answer goes out as it is. */
function checkAnswer(
  request: ElicitRequest,
  content: JsonObject,
  validator: SchemaValidator | undefined,
): void {
  let validation: Validation | undefined;
  try {
    validation = validator?.(request.requestedSchema ?? true)(content);
  } catch {
    return;
  }
  if (!validation || validation.valid) return;
  const [issue] = validation.issues;
  throw unfit(request, `"${issue?.path}" ${issue?.message}`);
}

function unfit({ message }: ElicitRequest, why: string): TypeError {
  return new TypeError(`Cannot send the answer to "${excerpt(String(message), 99)}": ${why}`);
}

function withDefaults(request: ElicitRequest, content: JsonObject): JsonObject {
  const properties = request.requestedSchema?.properties;
  if (!isObject(properties)) return content;
  const filled = { ...content };
  for (const [name, field] of Object.entries(properties)) {
    if (filled[name] === undefined && isObject(field) && field.default !== undefined) filled[name] = field.default;
  }
  return filled;
}
