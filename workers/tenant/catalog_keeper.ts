/**
 * What was listed of a tenant's servers, kept in its object: a cold object lists without asking anybody.
 *
 * @module
 */
import { readCatalog } from "../../src/hub/catalog/read.ts";
import type { Hub } from "../../src/hub/hub.ts";
import type { Catalog } from "../../src/hub/seam.ts";
import type { Logger, Store } from "../../src/ports.ts";
import { isObject } from "../../src/protocol/json_rpc.ts";
import { sha256 } from "../../src/protocol/web_crypto.ts";

const key = "catalog";

/** Keeps the catalog of a hub. It may hold sessions, so its store is a sealed one. */
export class CatalogKeeper {
  readonly #store: Store;
  readonly #settings: string;
  readonly #logger: Logger;
  #last: Promise<void> = Promise.resolve();
  #isWaiting = false;
  #isClosed = false;

  /** @param settings What the servers were set up with: a catalog of other settings is none. */
  constructor(store: Store, settings: string, logger: Logger) {
    this.#store = store;
    this.#settings = settings;
    this.#logger = logger;
  }

  /** What was kept; undefined when there is nothing that can be used. */
  async read(): Promise<Catalog | undefined> {
    try {
      const kept: unknown = JSON.parse(await this.#store.get(key) ?? "{}");
      if (!isObject(kept) || kept.of !== await sha256(this.#settings)) return undefined;
      return readCatalog(kept.catalog);
    } catch (error) {
      this.#logger({ level: "warning", message: "The stored catalog cannot be used", fields: { error } });
      return undefined;
    }
  }

  /** Keeps what a hub lists now, and whenever that changes. */
  follow(hub: Hub): void {
    const watch = async (): Promise<void> => {
      for await (const { type } of hub.events()) {
        if (type === "catalog" || type === "added" || type === "removed") this.#keep(hub);
      }
    };
    this.#keep(hub);
    void watch();
  }

  /** Keeps nothing more; resolves when what was under way is kept. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#last;
  }

  /** One after the other; of many changes at once the last is kept. */
  #keep(hub: Hub): void {
    if (this.#isWaiting || this.#isClosed) return;
    this.#isWaiting = true;
    this.#last = this.#last.then(async () => {
      this.#isWaiting = false;
      if (this.#isClosed) return;
      try {
        await this.#store.set(key, JSON.stringify({ of: await sha256(this.#settings), catalog: hub.catalog() }));
      } catch (error) {
        // A cold object asks its servers then.
        this.#logger({ level: "warning", message: "The catalog could not be kept", fields: { error } });
      }
    });
  }
}
