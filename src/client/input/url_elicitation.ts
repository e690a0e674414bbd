/**
 * -32042 of 2025-11-25 servers: the user has to visit URLs before the request can be served
 * (specification 2025-11-25: Elicitation, URL Elicitation Required Error). Retired in 2026-07-28.
 *
 * @module
 */
import type { UrlElicitationRequiredError } from "../../protocol/errors.ts";
import { isObject } from "../../protocol/json_rpc.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { HandlerContext, InputAnswers } from "./seam.ts";

/** Who waits for which completion notice: several calls may wait for one page. Unknown ids are ignored. */
export type UrlNotices = Map<NamedElicitation, () => void>;

/** What answers, whom to wait for, and who asks. */
export interface UrlParts {
  inputs: InputAnswers;
  notices: UrlNotices;
  context: HandlerContext;
}

/** A page that has a name. */
export type NamedElicitation = JsonObject & { elicitationId: string };

function isNamed(item: unknown): item is NamedElicitation {
  return isObject(item) && typeof item.elicitationId === "string";
}

/**
 * Takes the user through the URLs that the error names. Resolves when the server has told that all are done, and rejects with
 * the error when there is no handler for them or nothing to visit, and when the user declines.
 */
export async function answerUrls(
  error: UrlElicitationRequiredError,
  { inputs, notices, context }: UrlParts,
): Promise<void> {
  const data = isObject(error.data) ? error.data.elicitations : undefined;
  const wanted = Array.isArray(data) ? data.filter(isNamed) : [];
  if (!inputs.handlers.elicitationUrl || !wanted.length) throw error;
  const done = wanted.map((elicitation) => new Promise<void>((resolve) => notices.set(elicitation, resolve)));
  try {
    for (const elicitation of wanted) {
      const answer = await inputs.answer("elicitation/create", { ...elicitation, mode: "url" }, context);
      if (answer.action !== "accept") throw error;
    }
    await Promise.all(done);
  } finally {
    for (const elicitation of wanted) notices.delete(elicitation);
  }
}
