/** Counting in a store, as processes and Workers do that compete. */
import type { Store } from "../../../../src/ports.ts";

/** Adds one to the number under a key, as often as it takes. */
export async function increment(store: Store, key: string): Promise<void> {
  for (;;) {
    const found = await store.get(key);
    if (!store.compareAndSet) throw new TypeError("the store cannot compare");
    if (await store.compareAndSet(key, found, String(Number(found ?? 0) + 1))) return;
  }
}
