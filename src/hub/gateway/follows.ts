/**
 * Resources that clients in front watch, watched at their servers.
 *
 * @module
 */
import type { Client } from "../../client/client.ts";
import type { RequestOptions } from "../../client/session/request.ts";
import type { Clock } from "../../ports.ts";
import type { FoundResource } from "./lists/uris.ts";

/** How long it waits before it tries again, in milliseconds: at first, and at most. */
const pauses = { first: 1_000, most: 60_000 };

/** What following needs. */
export interface FollowParts {
  readonly clock: Clock;
  /** The client of a server; missing where there is no way to it. */
  readonly client: ((server: string, options: RequestOptions) => Promise<Client>) | undefined;
  /** Whose a resource is. */
  find(uri: string): FoundResource;
  /** Who is known to have it: nobody where `find` can only guess. */
  having(uri: string): readonly { readonly server: string }[];
  /** Hears that resources come and go until the returned function is called. */
  watch(listener: () => void): () => void;
  /** Whether it may be followed. */
  may(found: FoundResource): boolean;
  /** Whether it may be told of a change now. */
  still(found: FoundResource): Promise<boolean>;
  /** Waits until it is known what may be used now, and for servers that were never listed; undefined when there is nothing to wait for. */
  listed(signal: AbortSignal): Promise<unknown> | undefined;
  /** A resource has changed. */
  changed(found: FoundResource): void;
}

/** All that is followed: once at its server, however many clients want it. */
export class Follows {
  readonly #parts: FollowParts;
  readonly #followed = new Map<string, { count: number; readonly controller: AbortController }>();
  /** What waits for what is there and may be used. */
  readonly #waiting = new Set<AbortController>();

  constructor(parts: FollowParts) {
    this.#parts = parts;
  }

  /** A set for one client: what is in it is followed. */
  watched(): Set<string> {
    return new WatchedUris((uri) => this.#follow(uri));
  }

  /** Ends everything. */
  close(): void {
    for (const controller of this.#waiting) controller.abort();
    for (const { controller } of this.#followed.values()) controller.abort();
    this.#followed.clear();
  }

  /** Follows a resource until the returned function is called. What nobody has is not followed until somebody does. */
  #follow(uri: string): () => void {
    const { having, watch, still, changed, listed } = this.#parts;
    let at: FoundResource | undefined;
    let stop = (): void => {};
    const look = (): FoundResource | undefined => {
      const found = this.#find(uri);
      if (!found || (found.server === at?.server && found.uri === at.uri)) return undefined;
      stop();
      stop = this.#followFound(at = found);
      return found;
    };
    look();
    // It has come, moved, or was looked for where it never was.
    const unwatch = watch(() => {
      const servers = at && having(uri);
      if (servers && (!servers.length || servers.some(({ server }) => server === at?.server))) return;
      const found = look();
      if (found) void still(found).then((may) => may && changed(found), () => {});
    });
    const controller = new AbortController();
    const { signal } = controller;
    const waiting = at ? undefined : listed(signal);
    if (waiting) {
      this.#waiting.add(controller);
      void waiting.then(() => signal.aborted || at || look(), () => {}).finally(() => this.#waiting.delete(controller));
    }
    return () => {
      unwatch();
      controller.abort();
      stop();
    };
  }

  #find(uri: string): FoundResource | undefined {
    try {
      const found = this.#parts.find(uri);
      return this.#parts.may(found) ? found : undefined;
    } catch {
      return undefined;
    }
  }

  #followFound(found: FoundResource): () => void {
    const key = JSON.stringify([found.server, found.uri]);
    const followed = this.#followed.get(key) ?? { count: 0, controller: new AbortController() };
    if (!followed.count++) {
      this.#followed.set(key, followed);
      void this.#run(found, followed.controller.signal);
    }
    return () => {
      if (--followed.count) return;
      this.#followed.delete(key);
      followed.controller.abort();
    };
  }

  async #run(found: FoundResource, signal: AbortSignal): Promise<void> {
    const { client: reach, still, changed, clock } = this.#parts;
    const tell = async (): Promise<void> => {
      if (await still(found) && !signal.aborted) changed(found);
    };
    let isLate = false;
    for (let pause = pauses.first; !signal.aborted && reach; pause = Math.min(2 * pause, pauses.most)) {
      let openedAt = Infinity;
      try {
        const client = await reach(found.server, { signal });
        if (!client.info?.capabilities.resources?.subscribe) return;
        const stream = client.subscribeResource(found.uri, { signal });
        const opened = async (): Promise<void> => {
          openedAt = clock.monotonic();
          // What changed while nobody listened was told to nobody.
          if (isLate) await tell();
        };
        stream.acknowledged.then(opened).catch(() => {});
        for await (const change of stream) {
          pause = pauses.first;
          if (change.type === "resource" && change.uri === found.uri) await tell();
        }
      } catch {
        // It is down, or does not want to: later perhaps.
      }
      isLate = true;
      // A stream that stood as long works: it does not pay for those before it.
      if (clock.monotonic() - openedAt >= pauses.most) pause = pauses.first;
      if (!signal.aborted) await rest(clock, pause, signal);
    }
  }
}

/** Tells of what comes and goes. */
class WatchedUris extends Set<string> {
  readonly #follow: (uri: string) => () => void;
  readonly #stops = new Map<string, () => void>();

  constructor(follow: (uri: string) => () => void) {
    super();
    this.#follow = follow;
  }

  override add(uri: string): this {
    if (!this.has(uri)) this.#stops.set(uri, this.#follow(uri));
    return super.add(uri);
  }

  override delete(uri: string): boolean {
    this.#stops.get(uri)?.();
    this.#stops.delete(uri);
    return super.delete(uri);
  }

  override clear(): void {
    for (const uri of [...this]) this.delete(uri);
  }
}

function rest(clock: Clock, milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stop();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const stop = clock.schedule(done, milliseconds, { background: true });
    signal.addEventListener("abort", done);
  });
}
