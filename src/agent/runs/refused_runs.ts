/**
 * Runs that cannot be read.
 *
 * @module
 */
import type { DurableRuns } from "./options.ts";

/** Runs that say why to whoever asks: nothing is read, written or lost. */
export function refusedRuns(error: Error): DurableRuns {
  const refuse = (): Promise<never> => Promise.reject(error);
  return {
    start: refuse,
    get: refuse,
    list: refuse,
    events() {
      throw error;
    },
    answer: refuse,
    send: refuse,
    cancel: refuse,
    forget: refuse,
    resume: refuse,
    close: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
