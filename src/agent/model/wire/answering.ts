/**
 * One answer of a model within its time, however it ends.
 *
 * @module
 */
import type { Clock } from "../../../ports.ts";
import type { LanguageModelPart } from "../seam.ts";
import { type FailureOptions, toLanguageModelError } from "./failure.ts";
import { Patience } from "./patience.ts";

/** Who asks, and for how long. */
export interface Answering {
  readonly clock: Clock;
  /** Milliseconds for all of it. */
  readonly total: number;
  /** Calls it off. */
  readonly signal: AbortSignal | undefined;
  /** What an error says of the model. */
  readonly failing: FailureOptions;
}

/**
 * Gives the parts of an answer.
 *
 * @param read Asks and reads; whatever it waits for has to end with the patience that it is given.
 * @throws {LanguageModelError} When it breaks off.
 * @throws The signal's own reason, when it is called off.
 */
export async function* answerInTime(
  { clock, total, signal, failing }: Answering,
  read: (patience: Patience) => AsyncIterable<LanguageModelPart>,
): AsyncGenerator<LanguageModelPart, void, undefined> {
  signal?.throwIfAborted();
  const patience = new Patience(clock, total, signal);
  try {
    yield* read(patience);
  } catch (error) {
    if (patience.isCalledOff) throw signal?.reason;
    throw toLanguageModelError(patience.reasonOf(error), failing);
  } finally {
    patience.close();
  }
}
