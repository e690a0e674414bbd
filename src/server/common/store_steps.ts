/**
 * An end for what may hang.
 *
 * @module
 */
import type { Clock } from "../../ports.ts";

/**
 * Waits for a step of a store, but not for ever.
 *
 * @throws {Error} When it takes longer than `milliseconds`, and what the step throws.
 */
export async function inTime<Value>(clock: Clock, milliseconds: number, step: () => Promise<Value>): Promise<Value> {
  let callOff = (): void => {};
  const late = new Promise<never>((_resolve, reject) => {
    const error = new Error(`The store took longer than ${milliseconds} ms`);
    callOff = clock.schedule(() => reject(error), milliseconds, { background: true });
  });
  try {
    return await Promise.race([step(), late]);
  } finally {
    callOff();
  }
}
