/**
 * What is said of calls that gave nothing.
 *
 * @module
 */
import { InputRequiredError, McpError } from "../../../protocol/errors.ts";
import type { CallToolResult, PendingInput } from "../../../protocol/types.ts";
import type { ProposedCall } from "../seam.ts";
import { type CallOutcome, said } from "./observation.ts";

/** It was not made, since nobody said yes. */
export function denied({ name }: ProposedCall, reason: string): CallOutcome {
  return said(
    `The call of "${name}" was denied: ${reason}. It was not made; do not try it again without asking`,
    "denied",
  );
}

/** It may have run. */
export function unknown({ name }: Pick<ProposedCall, "name">, why: string): CallOutcome {
  return said(
    `The call of "${name}" may have run, or not: ${why}. It is not made again by itself; find out what it did first`,
    "unknown",
  );
}

/** An attempt before may have run: that this one did not says nothing of it. */
export function doubted(proposal: Pick<ProposedCall, "name">, outcome: CallOutcome): CallOutcome {
  if (outcome.outcome !== "not_called" && outcome.outcome !== "denied") return outcome;
  const [block] = outcome.result.content;
  return unknown(proposal, `it was tried before, and then: ${block?.type === "text" ? block.text : ""}`);
}

/** What a failure says of whether it ran. */
export function failed(proposal: ProposedCall, error: unknown): CallOutcome {
  const { message } = error instanceof Error ? error : { message: String(error) };
  const delivery = error instanceof McpError ? error.delivery : "answered";
  if (delivery === "unknown") return unknown(proposal, message);
  return delivery === "not-sent"
    ? said(`"${proposal.name}" was not called: ${message}`, "not_called")
    : said(`"${proposal.name}" failed: ${message}`, "tool_error");
}

/** It was made, and what it gave cannot be kept: undefined for all other failures. Known by its code: a journal has no classes. */
export function tooLarge({ name }: ProposedCall, error: unknown): CallOutcome | undefined {
  if (!(error instanceof Error) || !("code" in error) || error.code !== "limit_exceeded") return undefined;
  const text =
    `"${name}" was called, and gave more than can be kept of it (${error.message}): ask it for less at a time`;
  return said(text, "tool_error");
}

/** What a server wants to know first; undefined for all other failures. */
export function pendingOf(error: unknown): PendingInput | undefined {
  const pending = error instanceof InputRequiredError ? error.pending : undefined;
  if (!pending) return undefined;
  // Made by our own client; a copy without what is no JSON.
  return JSON.parse(JSON.stringify(pending)) as PendingInput;
}

/** What is kept, told and given to the model is one and the same. */
export function asJson(result: CallToolResult): CallToolResult {
  return JSON.parse(JSON.stringify(result)) as CallToolResult;
}
