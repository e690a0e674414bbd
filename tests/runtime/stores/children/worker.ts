/**
 * A Worker that does a step in one of its stores for each request. Bundled by `workerd_local_test.ts`, which runs two of them.
 */
import type { Store } from "../../../../src/ports.ts";
import { createKvStore, createObjectStore, createStubStore, StoreObject } from "../../../../src/entry/workers.ts";
import type { KvNamespace, ObjectStorage, StoreStub } from "../../../../src/entry/workers.ts";
import { increment } from "./increment.ts";

export { StoreObject };

interface Objects {
  idFromName(name: string): unknown;
  get(id: unknown): StoreStub;
}

interface Environment {
  readonly STORES: Objects;
  readonly OLD_STORES: Objects;
  readonly COUNTERS: Objects;
  readonly OLD_COUNTERS: Objects;
  readonly KV: KvNamespace;
}

/** What a test asks for. */
export interface Wish {
  readonly place: "STORES" | "OLD_STORES" | "KV";
  /** The object, or the beginning of the names. */
  readonly name: string;
  readonly step: "get" | "set" | "delete" | "compareAndSet" | "increment";
  readonly key: string;
  readonly value?: string | undefined;
  readonly expected?: string | undefined;
}

/** What a test asks of an object that counts. */
interface Contest {
  readonly place: "COUNTERS" | "OLD_COUNTERS";
  readonly name: string;
  /** How many count and claim. */
  readonly times: number;
  /** With how many stores over the one storage. */
  readonly parts: number;
}

/** The same in the old kind of storage: one class has one kind. */
export class OldStoreObject extends StoreObject {}

/** An object that competes with itself: all that one request sets going happens at the same time. */
export class Counter {
  readonly #storage: ObjectStorage;

  constructor(state: { readonly storage: ObjectStorage }) {
    this.#storage = state.storage;
  }

  async fetch(request: Request): Promise<Response> {
    const { times, parts }: Contest = await request.json();
    const stores = Array.from({ length: parts }, () => createObjectStore(this.#storage));
    const each = Array.from({ length: times }, (_, index) => stores[index % parts]).filter((store) => !!store);
    await Promise.all(each.map((store) => increment(store, "key")));
    const claim = crypto.randomUUID();
    const won = await Promise.all(
      each.map((store, index) => store.compareAndSet("claim", undefined, `${claim} ${index}`)),
    );
    const winners = won.filter((each) => each).length;
    if (winners > 0) await stores[0]?.delete("claim");
    return Response.json({ count: await this.#storage.get("key"), winners });
  }
}

/** The same in the old kind of storage. */
export class OldCounter extends Counter {}

const worker: { fetch(request: Request, env: Environment): Promise<Response> } = {
  async fetch(request, env) {
    if (new URL(request.url).pathname === "/counters") {
      const contest: Contest = await request.json();
      const objects = env[contest.place];
      const stub = objects.get(objects.idFromName(contest.name));
      return await stub.fetch("http://counter/", { method: "POST", body: JSON.stringify(contest) });
    }
    const wish: Wish = await request.json();
    try {
      return Response.json({ value: await grant(storeFor(env, wish), wish) ?? null });
    } catch (error) {
      return Response.json({ error: String(error) });
    }
  },
};

function storeFor(env: Environment, { place, name }: Wish): Store {
  if (place === "KV") return createKvStore(env.KV, { prefix: `${name}:` });
  return createStubStore(() => env[place].get(env[place].idFromName(name)));
}

async function grant(store: Store, { step, key, value, expected }: Wish): Promise<unknown> {
  if (step === "get") return await store.get(key);
  if (step === "set") return await store.set(key, value ?? "");
  if (step === "delete") return await store.delete(key);
  if (step === "increment") return await increment(store, key);
  return await store.compareAndSet?.(key, expected, value);
}

export default worker;
