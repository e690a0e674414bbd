/**
 * Changes of the hub's catalog, told to the clients in front.
 *
 * @module
 */
import type { Logger } from "../../ports.ts";
import type { ServerChange } from "../../server/seam.ts";
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
      for await (const event of events) for (const change of changesOf(event)) this.tell(change);
    })();
    return () => controller.abort();
  }
}

function changesOf(event: HubEvent): ServerChange[] {
  const parts = event.type === "catalog" ? event.changed : event.type === "removed" ? Object.keys(kinds) : [];
  return [...new Set(parts.map((part) => kinds[part as CatalogPart]))].map((type) => ({ type }));
}
