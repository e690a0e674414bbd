/**
 * Steps of a store: an end for what may hang, and exchanges.
 *
 * @module
 */
import type { Clock, Store } from "../../ports.ts";

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

/**
 * Puts a text in the place of another; undefined: nothing. A store that cannot compare is believed.
 *
 * @returns Whether it was done: not when the other one was no longer there.
 */
export async function exchange(
  store: Store,
  key: string,
  from: string | undefined,
  to: string | undefined,
): Promise<boolean> {
  if (store.compareAndSet) return await store.compareAndSet(key, from, to);
  await (to === undefined ? store.delete(key) : store.set(key, to));
  return true;
}
