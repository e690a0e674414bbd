/**
 * Requests that nobody waits for any more.
 *
 * @module
 */
import type { Incoming } from "../seam.ts";

/** Whether a request was called off; its signal is not made for that. */
export function isOver(incoming: Incoming): boolean {
  return incoming.over ? incoming.over() : incoming.signal.aborted;
}
