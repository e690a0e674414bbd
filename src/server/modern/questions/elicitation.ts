/**
 * Elicitation: asks the user, by a form or by a page to visit (specification 2026-07-28: client, Elicitation).
 *
 * @module
 */
import { isObject } from "../../../protocol/json_rpc.ts";
import type { JsonObject } from "../../../protocol/json_rpc.ts";
import type { ElicitRequest, ElicitResult } from "../../../protocol/types.ts";
import { fitsForm } from "../../common/client_answers.ts";
import type { QuestionKind } from "./kind.ts";

/** Asks the user. */
export const elicitation: QuestionKind<ElicitRequest, ElicitResult> = {
  name: "elicit",
  method: "elicitation/create",
  exact: true,

  /** An empty capability stands for forms alone. */
  lacks({ elicitation }, { mode }) {
    if (mode === "url") return isObject(elicitation?.url) ? undefined : { elicitation: { url: {} } };
    const forms = isObject(elicitation) && (isObject(elicitation.form) || !elicitation.url);
    return forms ? undefined : { elicitation: { form: {} } };
  },

  /** The id of 2025-11-25 is no more; a form has fields, if only none. */
  params({ elicitationId: _, requestedSchema = { type: "object", properties: {} }, ...request }) {
    return request.mode === "url" ? request : { ...request, requestedSchema };
  },

  read(answer, request) {
    if (!isObject(answer)) return undefined;
    const { action, content } = answer;
    if (action === "decline" || action === "cancel") return { action };
    if (action !== "accept") return undefined;
    if (request.mode === "url") return { action };
    const filled = content ?? {};
    return isObject(filled) && fitsForm(filled, request) ? { action, content: filled as JsonObject } : undefined;
  },
};
