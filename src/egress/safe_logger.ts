/**
 * An author's logger, kept from doing harm.
 *
 * @module
 */
import type { Logger } from "../ports.ts";

/** A logger that neither throws nor leaves a rejected promise behind: a full disk must not change an answer. */
export function createSafeLogger(logger: Logger | undefined): Logger | undefined {
  if (!logger) return undefined;
  return async (record) => {
    try {
      // An async function passes for a logger.
      await logger(record);
    } catch {
      // There is nobody left to tell.
    }
  };
}
