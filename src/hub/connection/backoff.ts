/**
 * How long to wait before a server is tried again.
 *
 * @module
 */
import type { Random } from "../../ports.ts";

/** The longest wait, in milliseconds. */
const longest = 300_000;

/**
 * Full jitter: anything from nothing to `first` × 2ⁿ⁻¹ milliseconds, at most five minutes.
 *
 * @param attempt Which try is waited for; the first one is 1.
 */
export function backoff(attempt: number, first: number, random: Random): number {
  return random.fraction() * Math.min(first * 2 ** (attempt - 1), longest);
}
