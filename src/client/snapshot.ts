/**
 * A client as plain JSON, so that another isolate goes on with it.
 *
 * @module
 */
import { isObject } from "../protocol/json_rpc.ts";
import type { LoggingLevel, Tool } from "../protocol/types.ts";
import type { Verdict } from "./negotiate.ts";

/** What `client.snapshot()` gives. Plain JSON; `sessionId` is a secret. */
export interface Snapshot {
  /** Tells it from other JSON. */
  kind: "causeway.snapshot";
  /** The version of this shape: another one is not taken. */
  version: 1;
  /** The server's URL, as it was given. */
  target: string;
  /** What is known of the server; missing before the connection. */
  verdict?: Verdict;
  /** The id of a legacy session. Secret. */
  sessionId?: string;
  /** The least level of log messages that is asked for; missing: the server's own choice (legacy) or none (modern). */
  logLevel?: LoggingLevel;
  /** The tools as they were listed last: mirrored headers and output checks work without a new list. */
  tools: Tool[];
}

/** True for what {@linkcode Snapshot} describes, also after a trip through storage. */
export function isSnapshot(value: unknown): value is Snapshot {
  return isObject(value) && value.kind === "causeway.snapshot" && value.version === 1 &&
    typeof value.target === "string" &&
    Array.isArray(value.tools);
}
