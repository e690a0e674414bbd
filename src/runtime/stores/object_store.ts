/**
 * Texts in the storage of a Durable Object.
 *
 * @module
 */
import type { Store } from "../../ports.ts";
import { fitName } from "./names.ts";

/** The steps that a Durable Object's storage can do, also within a transaction. */
export interface ObjectStorageSteps {
  /** What is kept under a key. */
  get(key: string): Promise<unknown>;
  /** Keeps a value. */
  put(key: string, value: unknown): Promise<void>;
  /** Forgets a key. */
  delete(key: string): Promise<unknown>;
}

/** The part of a Durable Object's storage that is used. */
export interface ObjectStorage extends ObjectStorageSteps {
  /** Does several steps with nothing in between, where there is something that could come in between. */
  transaction?<Value>(work: (steps: ObjectStorageSteps) => Promise<Value>): Promise<Value>;
}

/** What objects without SQLite allow, in bytes. */
const longestKey = 2_048;

/**
 * Makes a `Store` of the storage of a Durable Object (`state.storage`), for use in the object itself: for
 * `createSessionStore`, `createTaskStore` and `createOAuth`. Isolates elsewhere reach one by `createStubStore`.
 *
 * One text has at most 2 MB there, and 128 KiB in objects without SQLite.
 *
 * @example What an object keeps
 * ```ts
 * import { createTasks, createTaskStore } from "@causeway/mcp/server";
 * import { createObjectStore, type ObjectStorage } from "@causeway/mcp/workers";
 *
 * const tasksOf = (state: { storage: ObjectStorage }) =>
 *   createTasks({ store: createTaskStore(createObjectStore(state.storage)) });
 * console.assert(typeof tasksOf === "function");
 * ```
 */
export function createObjectStore(storage: ObjectStorage): Required<Store> {
  const nameOf = (key: string): Promise<string> => fitName("", key, longestKey);
  let last: Promise<unknown> = Promise.resolve();
  /** Changes come one after another: the object does other work while it waits for its storage. */
  const alone = <Value>(work: () => Promise<Value>): Promise<Value> => {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  };
  return {
    async get(key) {
      return textOf(await storage.get(await nameOf(key)));
    },
    set: (key, value) => alone(async () => await storage.put(await nameOf(key), value)),
    delete: (key) => alone(async () => void await storage.delete(await nameOf(key))),
    async compareAndSet(key, expected, value) {
      const name = await nameOf(key);
      const compare = async (steps: ObjectStorageSteps): Promise<boolean> => {
        if (textOf(await steps.get(name)) !== expected) return false;
        if (value === undefined) await steps.delete(name);
        else await steps.put(name, value);
        return true;
      };
      // The transaction keeps other stores over the same storage out.
      return await alone(() => storage.transaction ? storage.transaction(compare) : compare(storage));
    },
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
