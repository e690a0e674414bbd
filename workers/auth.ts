/**
 * Who may use the Worker: put your own in its place (docs/AUTH.md).
 *
 * @module
 */
import type { Authenticate } from "../src/server/mod.ts";

/**
 * Makes what verifies callers; each isolate and each object has its own. Undefined: anybody may use the Worker.
 *
 * @param _env What the operator sets, as the Worker gets it.
 */
export function createAuth(_env: object): Authenticate | undefined {
  return undefined;
}
