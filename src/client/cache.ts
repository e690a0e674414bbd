/**
 * Results that a server allows to be kept (specification 2026-07-28: caching), and requests for the same thing that are
 * under way at once. One cache belongs to one client, so to one server and one authorization.
 *
 * @module
 */
import type { JsonObject } from "../protocol/json_rpc.ts";
import type { Change } from "../protocol/types.ts";
import type { Clock } from "../ports.ts";

const longestLife = 24 * 3_600_000;
const mostEntries = 512;

interface Entry {
  result: JsonObject;
  expires: number;
}

/** Keeps results by method and parameters for as long as their `ttlMs` says, 24 hours at most. */
export class ResultCache {
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry>();
  readonly #underWay = new Map<string, Promise<JsonObject>>();
  #generation = 0;

  /**
   * An empty cache.
   *
   * @param clock What the life of results is measured by.
   */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * The kept result, or the one that is under way, or a new one.
   *
   * @param share Whether a request that is under way may serve this caller too: not when it has its own signal or clock.
   */
  async get(
    method: string,
    params: JsonObject,
    options: { load: () => Promise<JsonObject>; share: boolean },
  ): Promise<JsonObject> {
    const key = method + JSON.stringify(params);
    const entry = this.#entries.get(key);
    if (entry && entry.expires > this.#clock.now()) return structuredClone(entry.result);
    if (!options.share) return await this.#load(key, options.load);
    const shared = this.#underWay.get(key);
    if (shared) return structuredClone(await shared);
    const loading = this.#load(key, options.load).finally(() => {
      if (this.#underWay.get(key) === loading) this.#underWay.delete(key);
    });
    this.#underWay.set(key, loading);
    return await loading;
  }

  /** Something changed at the server: what it made stale is dropped at once, all pages of it. */
  changed(change: Change): void {
    this.#generation++;
    const stale = change.type === "resource" ? "resources/read" : change.type + "/";
    for (const kept of [this.#entries, this.#underWay]) {
      for (const key of kept.keys()) if (key.startsWith(stale)) kept.delete(key);
    }
  }

  async #load(key: string, load: () => Promise<JsonObject>): Promise<JsonObject> {
    const generation = this.#generation;
    const asked = this.#clock.now();
    const result = await load().catch((error) => {
      // What comes after kept pages cannot be had: a server that refuses their cursor has others now.
      if (/"cursor"/.test(key)) this.changed({ type: key.split("/")[0] as "tools" });
      throw error;
    });
    // Its shape was checked: it is a number or missing.
    const life = Math.min(result.ttlMs as number, longestLife);
    // What changed while it was under way may not be in it.
    if (life > 0 && generation === this.#generation) {
      if (this.#entries.size >= mostEntries) this.#entries.delete(this.#entries.keys().next().value as string);
      this.#entries.set(key, { result: structuredClone(result), expires: asked + life });
    }
    return result;
  }
}

/** Makes the cache of one client. */
export type CacheFeature = (clock: Clock) => ResultCache;
