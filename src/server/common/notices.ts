/**
 * What a handler tells its caller before the answer, in both eras.
 *
 * @module
 */
import type { Clock } from "../../ports.ts";
import type { JsonValue } from "../../protocol/json_rpc.ts";
import type { LoggingLevel, ProgressToken } from "../../protocol/types.ts";
import type { Incoming } from "../seam.ts";
import { isOver } from "./requests.ts";
import { ProgressMeter } from "./progress.ts";

/** How the progress of one request is told. */
export interface MeterOptions {
  readonly clock: Clock;
  /** How many signs may go out at once after a pause. Default: 1. */
  readonly burst?: number;
  /** Whether a sign may have words. */
  readonly words: boolean;
}

/** Makes what tells the progress of a request, while somebody waits for it. */
export function createMeter(incoming: Incoming, progressToken: ProgressToken, options: MeterOptions): ProgressMeter {
  const { clock, burst, words } = options;
  return new ProgressMeter(clock, ({ progress, total, message }) => {
    if (isOver(incoming)) return;
    const params = {
      progressToken,
      progress,
      ...(total !== undefined && { total }),
      ...(message !== undefined && words && { message }),
    };
    incoming.notify({ jsonrpc: "2.0", method: "notifications/progress", params });
  }, burst);
}

/** Sends a message for the log of the caller. */
export function sendLog(incoming: Incoming, level: LoggingLevel, data: JsonValue, logger: string | undefined): void {
  const params = { level, ...(logger !== undefined && { logger }), data };
  incoming.notify({ jsonrpc: "2.0", method: "notifications/message", params });
}
