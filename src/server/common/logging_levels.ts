/**
 * The levels of log messages (specification: logging).
 *
 * @module
 */
import type { LoggingLevel } from "../../protocol/types.ts";

/** Levels of log messages, least first. */
export const loggingLevels: readonly LoggingLevel[] = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
];
