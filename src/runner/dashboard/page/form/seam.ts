/**
 * What an editor of arguments is to others.
 *
 * @module
 */
import type { JsonObject } from "../../../../protocol/json_rpc.ts";

/** Arguments that are being written. */
export interface Editor {
  readonly element: HTMLElement;
  /** What is written so far; what cannot be read is left out. */
  value(): JsonObject;
  /** What is written, when it fits the schema; else what is wrong is shown. */
  take(): JsonObject | undefined;
}
