/**
 * Servers that nothing is known of, or nothing of late: a hub that is lazy connects them with their first call, but nobody calls
 * what is not listed.
 *
 * @module
 */
import { unlessAborted } from "../../../client/core_client.ts";
import type { Clock } from "../../../ports.ts";
import type { HubLike } from "../../seam.ts";

/** How long a name that nobody knows waits for servers to be listed anew, in milliseconds: most names are just wrong. */
const longestRenewal = 2_000;

/** Has each such server connected and listed, once: what comes of it later is told of as a change. */
export class FirstLists {
  readonly #hub: HubLike;
  readonly #clock: Clock;
  /** Servers that were listed before they were connected: they need no look. One that was tried is not disconnected any more. */
  readonly #seen = new Set<string>();
  readonly #trying = new Map<string, Promise<void>>();

  constructor(hub: HubLike, clock: Clock) {
    this.#hub = hub;
    this.#clock = clock;
  }

  /**
   * Waits for servers that were never listed: for each as long as it may take to connect (`timeout` of its config), and for
   * those that are being connected by others not at all.
   *
   * @returns undefined when there is nothing to wait for.
   * @throws {unknown} The reason of the signal.
   */
  wait(signal: AbortSignal): Promise<unknown> | undefined {
    const status = this.#hub.status();
    const names = new Set(status.map(({ name }) => name));
    // One that was removed may come again.
    for (const name of this.#seen) if (!names.has(name)) this.#seen.delete(name);
    const fresh = status.filter(({ name, state }) =>
      state === "disconnected" && !this.#seen.has(name) && !this.#trying.has(name)
    );
    if (fresh.length) this.#try(fresh.map(({ name }) => name));
    return this.#trying.size ? unlessAborted(Promise.all(this.#trying.values()), signal) : undefined;
  }

  /**
   * Has servers that told of changes be listed now. The hub does so only every few seconds, and who was just told of a new tool
   * calls it at once. One that takes long is not waited for.
   *
   * @throws {unknown} The reason of the signal.
   */
  async renew(signal: AbortSignal): Promise<void> {
    const connected = this.#hub.status().filter(({ state }) => state === "connected");
    const listing = connected.map(async ({ name }) => await this.#hub.retry?.(name));
    let callOff = (): void => {};
    const late = new Promise<void>((resolve) => callOff = this.#clock.schedule(resolve, longestRenewal));
    await unlessAborted(Promise.race([Promise.allSettled(listing), late]), signal).finally(callOff);
  }

  #try(names: readonly string[]): void {
    const listed = new Set(this.#hub.catalog().servers.map(({ name }) => name));
    for (const name of names) {
      if (listed.has(name)) this.#seen.add(name);
      const trying = listed.has(name) ? undefined : this.#hub.retry?.(name);
      // Why it fails is told by the hub.
      if (trying) this.#trying.set(name, trying.catch(() => {}).finally(() => this.#trying.delete(name)));
    }
  }
}
