/**
 * Changes of the hub's catalog, told to the clients in front.
 *
 * @module
 */
import type { Logger } from "../../ports.ts";
import type { ServerChange } from "../../server/seam.ts";
import { allParts } from "../connection/listing.ts";
import type { CatalogPart, HubEvent, HubLike } from "../seam.ts";

const kinds: Readonly<Record<CatalogPart, "tools" | "resources" | "prompts">> = {
  tools: "tools",
  resources: "resources",
  templates: "resources",
  prompts: "prompts",
};

/** Tells of changes. The hub is listened to only while somebody wants to hear. */
export class Changes {
  readonly #hub: HubLike;
  readonly #logger: Logger | undefined;
  readonly #listeners = new Set<(change: ServerChange) => void>();
  #stop: (() => void) | undefined;

  constructor(hub: HubLike, logger: Logger | undefined) {
    this.#hub = hub;
    this.#logger = logger;
  }

  /** Hears of changes until the returned function is called. */
  watch(listener: (change: ServerChange) => void): () => void {
    const own = (change: ServerChange): void => listener(change);
    this.#listeners.add(own);
    this.#stop ??= this.#listen();
    return () => {
      this.#listeners.delete(own);
      if (!this.#listeners.size) this.close();
    };
  }

  /** Tells all who listen. A listener that throws keeps nobody else from hearing. */
  tell(change: ServerChange): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(change);
      } catch (error) {
        this.#logger?.({ level: "error", message: "A listener of the gateway's changes failed", fields: { error } });
      }
    }
  }

  /** Hears no more of the hub, until somebody wants to again. */
  close(): void {
    this.#stop?.();
    this.#stop = undefined;
  }

  #listen(): () => void {
    const controller = new AbortController();
    const events = this.#hub.events({ signal: controller.signal });
    void (async () => {
      for await (const event of events) {
        for (const type of new Set(this.#partsOf(event).map((part) => kinds[part]))) this.tell({ type });
      }
    })();
    return () => controller.abort();
  }

  /** What is another list since this happened. What is known of a new server, by a stored catalog, is listed at once. */
  #partsOf(event: HubEvent): readonly CatalogPart[] {
    if (event.type === "catalog") return event.changed;
    if (event.type === "removed") return allParts;
    if (event.type !== "added") return [];
    return allParts.filter((part) => this.#hub[part]().some(({ server }) => server === event.server));
  }
}
