/**
 * Keeps up with what a server has: listens to its changes, and lists again what changed, but not too often.
 *
 * @module
 */
import type { Client } from "../../client/client.ts";
import { lists } from "../../client/listen/change.ts";
import type { Subscription } from "../../client/listen/seam.ts";
import type { McpError } from "../../protocol/errors.ts";
import type { Change, ListenFilter } from "../../protocol/types.ts";
import type { CatalogPart, CatalogServer } from "../seam.ts";
import type { Breaker } from "./breaker.ts";
import { allParts, list, type ListingParts } from "./listing.ts";
import { calm, debounce, firstPause, longestPause } from "./times.ts";

/** What is told of. */
export interface WatchEvent {
  readonly type: "catalog";
  readonly changed: readonly CatalogPart[];
}

/** What it needs. */
export interface WatchParts extends ListingParts {
  /** Milliseconds that a list may take. */
  readonly timeout: number;
  /** Says how much the server may be asked. */
  readonly breaker: Breaker;
  /** The way to the server may be broken. */
  broke(error: unknown): void;
  emit(event: WatchEvent): void;
  known(): CatalogServer;
  learned(server: CatalogServer): void;
}

/** Watches one server. */
export class Watch {
  readonly #parts: WatchParts;
  readonly #changed = new Set<CatalogPart>();
  #client: Client | undefined;
  #subscription: Subscription | undefined;
  #cancel: (() => void) | undefined;
  /** When that comes which is to be cancelled, by the monotonic clock. */
  #dueAt = Infinity;
  #cancelStart: (() => void) | undefined;
  #refreshed: Promise<void> | undefined;
  #listedAt = -Infinity;
  #pause = firstPause;
  #startedAt = -Infinity;
  #starts = 0;

  constructor(parts: WatchParts) {
    this.#parts = parts;
  }

  /**
   * Begins to listen.
   *
   * @param always Listens also when the server does not tell of changes: its end is heard then.
   */
  start(client: Client, always: boolean): void {
    // So often in a minute it does not begin to listen: it may be the listening that the server does not like.
    const tooOften = 4;
    if (this.#subscription) return;
    this.#cancelStart?.();
    // It may be another one, which has listed nothing: that of a stored catalog.
    if (this.#client) this.#touch(allParts);
    this.#client = client;
    const { capabilities } = client.info ?? {};
    const filter: ListenFilter = {};
    let tells: boolean | undefined;
    for (const type of lists) {
      // What it has kept may be older than what was missed.
      client.changed({ type });
      if (capabilities?.[type]?.listChanged) tells = filter[type] = true;
    }
    if (!always && !tells) return;
    const { clock, breaker } = this.#parts;
    if (clock.monotonic() - this.#startedAt >= calm) this.#starts = 0;
    this.#startedAt = clock.monotonic();
    const listen = (): void => void this.#listen(client.listen(filter), later);
    const later = (): void => {
      this.#cancelStart = clock.schedule(
        () => {
          if (tells) this.#touch(allParts);
          listen();
        },
        calm,
        { background: true },
      );
    };
    if (++this.#starts < tooOften && (always || breaker.isCalm)) listen();
    else later();
  }

  /** Ends it. */
  stop(): void {
    this.#cancelStart?.();
    this.#cancel?.();
    this.#dueAt = Infinity;
    this.#subscription?.close();
    this.#subscription = undefined;
  }

  /**
   * Lists everything now.
   *
   * @param calmly One list first: the others when it was there.
   */
  async list(client: Client, timeout: number, calmly: boolean): Promise<void> {
    const listed = this.#list(client, timeout, calmly ? ["tools"] : allParts);
    const all = calmly ? listed.then(() => this.#list(client, timeout, allParts.slice(1))) : listed;
    // What changes meanwhile is listed after it, and by nobody where it failed: its client is closed.
    await (this.#refreshed = all.catch(() => this.stop()));
    // Who begins to listen now has not to list it again.
    if (!this.#subscription) this.#client = undefined;
    await all;
  }

  async #list(client: Client, timeout: number, parts: readonly CatalogPart[]): Promise<void> {
    const { clock, known, learned, emit } = this.#parts;
    const before = known();
    this.#listedAt = clock.monotonic();
    const server = await list(client, before, parts, timeout, this.#parts, (part) => {
      const { isCalm } = this.#parts.breaker;
      this.#changed.add(part);
      // Nobody calls a server that has no tools: one that is not well is asked, too, but seldom. Of the rest, what failed at first is
      // asked for again, once.
      if (part === "tools" || (parts[2] && isCalm)) this.#touch([], isCalm ? longestPause : 5 * longestPause);
    });
    const changed = allParts.filter((part) => JSON.stringify(server[part]) !== JSON.stringify(before[part]));
    learned(server);
    this.#pause = Math.min(this.#pause * 2, longestPause);
    if (!changed[0]) return;
    this.#pause = firstPause;
    emit({ type: "catalog", changed });
  }

  /** @param later Listens anew, where it may be another time. */
  async #listen(subscription: Subscription, later: () => void): Promise<void> {
    this.#subscription = subscription;
    let reason: unknown;
    try {
      // What it still tells when it was closed is not heard.
      for await (const change of subscription) if (this.#subscription === subscription) this.#heard(change);
    } catch (error) {
      reason = error;
    }
    if (this.#subscription !== subscription) return;
    this.#subscription = undefined;
    // Servers that are replaced by others end it without a reason, while there is none a proxy may say 404, and some that tell
    // of changes do not know the method: they are listed now and then. What wants a person, is too large or breaks the protocol
    // (authorization, limit_exceeded, protocol_violation) is left in peace.
    if (!/^[alp]/.test((reason as McpError)?.code)) later();
    this.#parts.broke(reason);
  }

  #heard({ type }: Change): void {
    if (type !== "task" && type !== "resource") this.#touch(type === "resources" ? ["resources", "templates"] : [type]);
  }

  #touch(parts: readonly CatalogPart[], least: number = debounce): void {
    for (const part of parts) this.#changed.add(part);
    const { clock } = this.#parts;
    const now = clock.monotonic();
    const dueAt = Math.max(now + least, this.#listedAt + this.#pause);
    // What is to be listed later is listed with what is to be listed sooner.
    if (dueAt >= this.#dueAt) return;
    this.#cancel?.();
    this.#dueAt = dueAt;
    this.#cancel = clock.schedule(() => void this.refresh(), dueAt - now, { background: true });
  }

  /**
   * Lists now what has changed since it was listed, after what is being listed: what is older never comes last.
   *
   * @param given Where none is listened to.
   */
  refresh(given?: Client): Promise<void> {
    return this.#refreshed = this.#refresh(given, this.#refreshed);
  }

  async #refresh(given: Client | undefined, before: Promise<void> | undefined): Promise<void> {
    await before;
    this.#cancel?.();
    this.#dueAt = Infinity;
    const client = this.#client ?? given;
    if (!client) return;
    const { breaker } = this.#parts;
    const changed = [...this.#changed].filter((part) => breaker.may() && this.#changed.delete(part));
    // For the rest the server has not been well for long enough.
    if (this.#changed.size) this.#touch([], longestPause);
    try {
      if (changed[0]) await this.#list(client, this.#parts.timeout, changed);
    } catch (error) {
      for (const part of changed) this.#changed.add(part);
      this.#parts.failed(error);
      this.#parts.broke(error);
    }
  }
}
