/**
 * Messages as texts.
 *
 * @module
 */
import { LimitExceededError } from "../../protocol/errors.ts";
import type { ServerParts } from "../seam.ts";

/** What writing needs. */
export type WriteParts = Pick<ServerParts, "limits" | "logger">;

/**
 * A message as text. Undefined when it cannot be sent: it is no JSON (a circle, a bigint), or as long as `outboxBytes`. The
 * operator hears of it.
 */
export function writeMessage(message: object, { limits: { outboxBytes }, logger }: WriteParts): string | undefined {
  try {
    const text = JSON.stringify(message);
    if (text.length < outboxBytes) return text;
    throw new LimitExceededError("limits.outboxBytes", outboxBytes, text.length);
  } catch (error) {
    logger?.({ level: "error", message: "A message cannot be sent", fields: { error } });
    return undefined;
  }
}
