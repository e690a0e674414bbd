/**
 * What the kinds of questions to a client have in common.
 *
 * @module
 */
import { MissingCapabilityError } from "../../../protocol/errors.ts";
import type { JsonObject } from "../../../protocol/json_rpc.ts";
import type { ClientCapabilities } from "../../../protocol/types.ts";

/** One kind of question: how it is asked, and how its answer is read. */
export interface QuestionKind<Request, Reply> {
  /** Begins the keys of questions that have none of their own. */
  readonly name: "elicit" | "sample" | "roots";
  /** The method that the question travels under. */
  readonly method: string;
  /** Whether an unnamed question keeps its answer only while it is worded as it was: what a user agreed to must not move. */
  readonly exact: boolean;
  /** The capability that the client would have to declare; undefined when it has. */
  lacks(capabilities: ClientCapabilities, request: Request): JsonObject | undefined;
  /** What goes out. */
  params(request: Request, capabilities: ClientCapabilities): JsonObject | undefined;
  /** Reads an answer, which nobody has checked; undefined when it is none: then the question is asked again (S-091). */
  read(answer: unknown, request: Request): Reply | undefined;
}

/** @throws {MissingCapabilityError} When the client did not declare what a question needs. */
export function demand<Request, Reply>(
  kind: QuestionKind<Request, Reply>,
  capabilities: ClientCapabilities,
  request: Request,
): void {
  const requiredCapabilities = kind.lacks(capabilities, request);
  if (!requiredCapabilities) return;
  throw new MissingCapabilityError(`The client did not declare what "${kind.method}" needs`, {
    rpcCode: -32021,
    data: { requiredCapabilities },
  });
}
