/**
 * One store for many isolates: a Durable Object that keeps texts, and the way to it.
 *
 * @module
 */
import type { Fetch, Store } from "../../ports.ts";
import { ConnectionClosedError, McpError } from "../../protocol/errors.ts";
import { isObject } from "../../protocol/json_rpc.ts";
import { createObjectStore, type ObjectStorage } from "./object_store.ts";

/** The part of a Durable Object's state that is used. */
export interface StoreObjectState {
  /** Where it keeps the texts. */
  readonly storage: ObjectStorage;
}

/** The part of a Durable Object stub that is used. */
export interface StoreStub {
  /** Sends a request to the object. */
  fetch: Fetch;
}

/** One step, as it travels. What is not there is null. */
interface Step {
  readonly step: "get" | "set" | "delete" | "compareAndSet";
  readonly key: string;
  readonly value: string | null;
  readonly expected: string | null;
}

const address = "https://store.invalid/";

/**
 * A Durable Object that keeps texts for all isolates of your Workers: export it from the Worker's module, and name it in
 * `wrangler.toml`. It can be reached by a binding only, and trusts whoever has one.
 *
 * @example In the module of the Worker
 * ```ts
 * import { createStubStore, type StoreStub } from "@causeway/mcp/workers";
 *
 * export { StoreObject } from "@causeway/mcp/workers";
 *
 * interface Env {
 *   STORES: { idFromName(name: string): object; get(id: object): StoreStub };
 * }
 * const storeOf = (env: Env) => createStubStore(() => env.STORES.get(env.STORES.idFromName("oauth")));
 * console.assert(typeof storeOf === "function");
 * ```
 *
 * @example In wrangler.toml
 * ```toml
 * durable_objects.bindings = [{ name = "STORES", class_name = "StoreObject" }]
 * migrations = [{ tag = "v1", new_sqlite_classes = ["StoreObject"] }]
 * ```
 */
export class StoreObject {
  /** Only for the types of Workers: `DurableObjectNamespace<StoreObject>`, which `wrangler types` writes, asks for it. */
  declare readonly __DURABLE_OBJECT_BRAND: never;
  readonly #store: Required<Store>;

  /** Made by the runtime. */
  constructor(state: StoreObjectState) {
    this.#store = createObjectStore(state.storage);
  }

  /** Does one step for a store of {@linkcode createStubStore}. */
  async fetch(request: Request): Promise<Response> {
    const body: unknown = await request.json().catch(() => undefined);
    const step = readStep(body);
    if (!step) return Response.json({ error: "expected a step of a store" }, { status: 400 });
    return Response.json({ value: await this.#do(step) ?? null });
  }

  async #do({ step, key, value, expected }: Step): Promise<string | boolean | undefined> {
    if (step === "get") return await this.#store.get(key);
    if (step === "compareAndSet") {
      return await this.#store.compareAndSet(key, expected ?? undefined, value ?? undefined);
    }
    if (value === null) await this.#store.delete(key);
    else await this.#store.set(key, value);
    return undefined;
  }
}

/**
 * Makes a `Store` of a Durable Object of the class {@linkcode StoreObject}: isolates that use the same object share it, and its
 * comparisons have exactly one winner. All of it is in one place on earth: take one object for each tenant.
 *
 * @param stub The object, or what gives it: a stub belongs to the request that made it, so a store that lives longer needs a
 * function.
 * @returns A store. It rejects with a `ConnectionClosedError` when the object cannot be reached (a change
 * may have been made), and with
 * an `McpError` when what answers is no `StoreObject`.
 *
 * @example One store for all isolates
 * ```ts
 * import { createStubStore } from "@causeway/mcp/workers";
 *
 * // In the place of `env.STORES.get(env.STORES.idFromName("oauth"))`: an object that has nothing.
 * const stub = { fetch: () => Promise.resolve(Response.json({ value: null })) };
 * const store = createStubStore(() => stub);
 * console.assert(await store.get("nothing") === undefined);
 * ```
 */
export function createStubStore(stub: StoreStub | (() => StoreStub)): Required<Store> {
  const ask = (step: Step): Promise<unknown> => send(typeof stub === "function" ? stub() : stub, step);
  return {
    async get(key) {
      const value = await ask({ step: "get", key, value: null, expected: null });
      if (typeof value === "string") return value;
      if (value === null) return undefined;
      throw new McpError("Cannot read from the store's object: it gave no text");
    },
    async set(key, value) {
      await ask({ step: "set", key, value, expected: null });
    },
    async delete(key) {
      await ask({ step: "delete", key, value: null, expected: null });
    },
    async compareAndSet(key, expected, value) {
      const done = await ask({ step: "compareAndSet", key, value: value ?? null, expected: expected ?? null });
      if (typeof done === "boolean") return done;
      throw new McpError("Cannot compare in the store's object: it does not say whether it did");
    },
  };
}

async function send(stub: StoreStub, step: Step): Promise<unknown> {
  let status = 0;
  let text = "";
  try {
    const response = await stub.fetch(address, { method: "POST", body: JSON.stringify(step) });
    status = response.status;
    text = await response.text();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `Cannot reach the store's object: ${reason}`;
    throw new ConnectionClosedError(message, { cause, retryable: true });
  }
  const answer = status === 200 ? parse(text) : undefined;
  if (isObject(answer) && "value" in answer) return answer.value;
  throw new McpError(`Cannot use the store's object: it answered ${status}, expected a StoreObject`);
}

function readStep(body: unknown): Step | undefined {
  if (!isObject(body)) return undefined;
  const { step, key, value, expected } = body;
  const isKnown = step === "get" || step === "set" || step === "delete" || step === "compareAndSet";
  if (!isKnown || typeof key !== "string" || !isText(value) || !isText(expected)) return undefined;
  // One without a text to keep would forget the key.
  return (step === "set") === (value !== null) || step === "compareAndSet" ? { step, key, value, expected } : undefined;
}

function isText(value: unknown): value is string | null {
  return value === null || typeof value === "string";
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
