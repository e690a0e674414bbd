/**
 * Whether those who listen for long still may.
 *
 * @module
 */
import type { Clock } from "../../ports.ts";

/** How often it is looked at, in milliseconds. */
const looks = 60_000;

/** What is looked at. */
export interface Standing {
  readonly clock: Clock;
  /** Says whether they still may. */
  isGood(): Promise<boolean>;
  /** Called once, when they may no more. */
  gone(): void;
}

/**
 * Looks again and again.
 *
 * @returns Ends it.
 */
export function watchStanding({ clock, isGood, gone }: Standing): () => void {
  let isOver = false;
  let stop = (): void => {};
  const wait = (): void => {
    stop = clock.schedule(() => void look(), looks, { background: true });
  };
  const look = async (): Promise<void> => {
    // What cannot be found out now is looked at again.
    const may = await isGood().catch(() => true);
    if (isOver) return;
    if (may) return wait();
    isOver = true;
    gone();
  };
  wait();
  return () => {
    isOver = true;
    stop();
  };
}
