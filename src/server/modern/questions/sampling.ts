/**
 * Sampling: asks the client's model. Deprecated in 2026-07-28.
 *
 * @module
 */
import { isObject } from "../../../protocol/json_rpc.ts";
import type { CreateMessageRequest, CreateMessageResult } from "../../../protocol/types.ts";
import { isModelMessage } from "../../common/client_answers.ts";
import type { QuestionKind } from "./kind.ts";

/** Asks the client's model. */
export const sampling: QuestionKind<CreateMessageRequest, CreateMessageResult> = {
  name: "sample",
  method: "sampling/createMessage",
  exact: false,

  lacks({ sampling }, { tools, toolChoice }) {
    if (!isObject(sampling)) return { sampling: tools || toolChoice ? { tools: {} } : {} };
    return (tools || toolChoice) && !isObject(sampling.tools) ? { sampling: { tools: {} } } : undefined;
  },

  /** Other servers' context only where the client can; a task exists in 2025-11-25 only. */
  params({ includeContext, task: _, ...request }, { sampling }) {
    return { ...request as object, ...(includeContext && sampling?.context && { includeContext }) };
  },

  read(answer) {
    return isObject(answer) && isModelMessage(answer) ? answer as unknown as CreateMessageResult : undefined;
  },
};
