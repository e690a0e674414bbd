/**
 * A clock by hand for what works on no other thread.
 *
 * @module
 */
import { VirtualClock } from "../virtual_clock.ts";

/** Turns that are given to what a timer set going. */
const turns = 6;
/** A turn that takes no time, where the runtime has one: a timer of 0 takes a millisecond, and two of them on Deno. */
const turn: (resolve: () => void) => void = (globalThis as { setImmediate?: (resolve: () => void) => void })
  .setImmediate ?? ((resolve) => void setTimeout(resolve, 0));

/** As a `VirtualClock`, several times as fast. The runtime's cryptography may not be ready when it moves on: it takes real time. */
export class QuickClock extends VirtualClock {
  override async settle(): Promise<void> {
    for (let at = 0; at < turns; at++) await new Promise<void>((resolve) => void turn(resolve));
    await new Promise<void>((resolve) => void setTimeout(resolve, 0));
  }
}
