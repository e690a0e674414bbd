/**
 * A short list of each tenant in a store: one record, changed in one step.
 *
 * @module
 */
import { inTurn } from "../../auth/stores/in_turn.ts";
import type { Clock, Logger, Store } from "../../ports.ts";
import { isObject } from "../../protocol/json_rpc.ts";
import { sha256 } from "../../protocol/web_crypto.ts";
import { inTime } from "../../server/common/store_steps.ts";
import { ask, Refusal } from "../rest/problem.ts";

/** How often a change is tried when somebody else was faster. */
const mostTries = 20;
/**
 * How long a reading may take, in milliseconds. Writing has no such time: what comes late would count all the same, when others were told
 * that it does not.
 */
const readTime = 10_000;

/** What a list needs. */
export interface TenantListOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** What it is called in keys and errors: `servers`. */
  readonly name: string;
  readonly logger: Logger | undefined;
  /** Whether an object that was kept can be used as an item: what cannot is left out, and hides none of the others. */
  isSound(item: Readonly<Record<string, unknown>>): boolean;
}

/** A list of each tenant. Whatever fails in the store is 503, and nothing was changed. */
export class TenantList<Item> {
  readonly #options: TenantListOptions & { readonly store: Required<Store> };

  constructor(options: TenantListOptions) {
    this.#options = { ...options, store: inTurn(options.store) };
  }

  /** What a tenant has. */
  async read(tenant: string): Promise<readonly Item[]> {
    const { name, logger } = this.#options;
    const key = await keyOf(name, tenant);
    return await ask(`The store of ${name}`, async () => this.#items(await this.#get(key)), logger);
  }

  /**
   * Changes what a tenant has.
   *
   * @param change Gives the list as it shall be, or undefined to leave it. Called again when somebody else was faster.
   * @returns Whether it was changed.
   */
  async change(tenant: string, change: (items: readonly Item[]) => readonly Item[] | undefined): Promise<boolean> {
    const { store, name, logger } = this.#options;
    const key = await keyOf(name, tenant);
    return await ask(`The store of ${name}`, async () => {
      for (let tries = 0; tries < mostTries; tries++) {
        const text = await this.#get(key);
        const items = change(this.#items(text));
        if (items === undefined) return false;
        const next = items.length ? JSON.stringify(items) : undefined;
        if (await store.compareAndSet(key, text, next)) return true;
      }
      throw new Refusal(503, "unavailable", `The ${name} are changed by too many at once`, {
        headers: { "retry-after": "1" },
      });
    }, logger);
  }

  /** How many characters the list of a tenant takes. */
  async size(tenant: string): Promise<number> {
    const { name, logger } = this.#options;
    const key = await keyOf(name, tenant);
    return await ask(`The store of ${name}`, async () => (await this.#get(key))?.length ?? 0, logger);
  }

  /** Forgets what a tenant has. */
  async clear(tenant: string): Promise<void> {
    await this.change(tenant, () => []);
  }

  async #get(key: string): Promise<string | undefined> {
    const { store, clock } = this.#options;
    // Many a store says null.
    return await inTime(clock, readTime, () => store.get(key)) ?? undefined;
  }

  #items(text: string | undefined): readonly Item[] {
    if (text === undefined) return [];
    const items: unknown = JSON.parse(text);
    if (!Array.isArray(items)) throw new TypeError("Cannot read what is stored: expected a list");
    const sound = items.filter((item) => isObject(item) && this.#options.isSound(item));
    const { name, logger } = this.#options;
    const count = items.length - sound.length;
    if (count) logger?.({ level: "warning", message: "What is stored cannot be used", fields: { list: name, count } });
    return sound;
  }
}

async function keyOf(name: string, tenant: string): Promise<string> {
  return `${name}/${await sha256(`${tenant.length}:${tenant}`)}`;
}
