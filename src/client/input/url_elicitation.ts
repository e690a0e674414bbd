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

/** Who waits for which completion notice. Unknown ids are ignored. */
export type UrlNotices = Map<unknown, () => void>;

/**
 * Takes the user through the URLs that the error names. Undefined when there is no handler for them or nothing to visit;
 * otherwise resolves when the server has told that all are done, and rejects with the error when the user declines.
 */
export function answerUrls(error: UrlElicitationRequiredError, parts: UrlParts): Promise<undefined> | undefined {
  const data = isObject(error.data) ? error.data.elicitations : undefined;
  const wanted = Array.isArray(data) ? data.filter(isNamed) : [];
  return parts.inputs.handlers.elicitationUrl && wanted.length > 0 ? visit(wanted, error, parts) : undefined;
}

/** What answers, whom to wait for, and who asks. */
export interface UrlParts {
  inputs: InputAnswers;
  notices: UrlNotices;
  context: HandlerContext;
}

type NamedElicitation = JsonObject & { elicitationId: string };

function isNamed(item: unknown): item is NamedElicitation {
  return isObject(item) && typeof item.elicitationId === "string";
}

async function visit(
  wanted: NamedElicitation[],
  error: UrlElicitationRequiredError,
  { inputs, notices, context }: UrlParts,
): Promise<undefined> {
  const done = wanted.map(({ elicitationId }) => new Promise<void>((resolve) => notices.set(elicitationId, resolve)));
  try {
    for (const elicitation of wanted) {
      const answer = await inputs.answer("elicitation/create", { ...elicitation, mode: "url" }, context);
      if (answer.action !== "accept") throw error;
    }
    await Promise.all(done);
  } finally {
    for (const { elicitationId } of wanted) notices.delete(elicitationId);
  }
}
