/**
 * Whole results in a store, for a while.
 *
 * @module
 */
import { type Clock, type Random, randomHex, type Store } from "../../ports.ts";
import { isObject } from "../../protocol/json_rpc.ts";
import type { CallToolResult } from "../../protocol/types.ts";
import { boundary } from "./cut.ts";

/** What a store of results needs. */
export interface KeptResultsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  /** Milliseconds. */
  readonly lifetime: number;
  /** The most characters under one key. */
  readonly chunkSize: number;
  /** The most characters in all. */
  readonly most: number;
}

/** What was kept here. */
interface Kept {
  readonly manifest: Manifest;
  /** Its characters. */
  readonly size: number;
  /** Its deletion has begun. */
  forgotten?: boolean;
}

/** What all keys begin with. */
export const resultsPrefix = "results/";

/** What stands under `results/<id>`; the text itself is under `results/<id>/0` and on. */
interface Manifest {
  readonly version: 1;
  readonly expiresAt: number;
  readonly chunks: number;
}

/** How many keys are asked for at the same time. */
const atOnce = 8;

/** Keeps results as JSON, in pieces that every store takes. */
export class KeptResults {
  readonly #options: KeptResultsOptions;
  /** What was kept here and may be forgotten some time. The oldest is first. */
  readonly #own: Map<string, Kept> = new Map();
  #size = 0;

  constructor(options: KeptResultsOptions) {
    this.#options = options;
  }

  /**
   * Keeps a result. Those that were kept here longest are forgotten where all are too many.
   *
   * @returns Its id: 128 bits that nobody guesses, and when it ends, in milliseconds since 1970.
   * @throws What the store throws; nothing is left behind then, as far as the store can.
   */
  async keep(result: CallToolResult): Promise<{ id: string; expiresAt: number }> {
    const { store, clock, random, lifetime, chunkSize } = this.#options;
    const id = randomHex(random, 16);
    const text = JSON.stringify(result);
    const pieces = split(text, chunkSize);
    const manifest: Manifest = { version: 1, expiresAt: clock.now() + lifetime, chunks: pieces.length };
    // Before it is written: others that come meanwhile count it, too.
    const kept: Kept = { manifest, size: text.length };
    this.#own.set(id, kept);
    this.#size += text.length;
    await this.#forgetOld(id);
    try {
      await inTurns(pieces.length, (at) => store.set(`${keyOf(id)}/${at}`, pieces[at] ?? ""));
      await store.set(keyOf(id), JSON.stringify(manifest));
    } catch (error) {
      await this.#forget(id, manifest).catch(() => {});
      throw error;
    }
    // It was too much already while it was written: what was written since is still there.
    if (kept.forgotten) await this.#forget(id, manifest);
    return { id, expiresAt: manifest.expiresAt };
  }

  /** What was kept under an id, here or by another isolate. Undefined: nothing, or it has ended, or it is damaged. */
  async read(id: string): Promise<CallToolResult | undefined> {
    if (!/^[\da-f]{32}$/.test(id)) return undefined;
    const { store, clock } = this.#options;
    const manifest = parse(await store.get(keyOf(id)));
    if (!isManifest(manifest)) return undefined;
    if (clock.now() >= manifest.expiresAt) {
      await this.#forget(id, manifest);
      return undefined;
    }
    const pieces: (string | undefined)[] = [];
    await inTurns(manifest.chunks, async (at) => {
      pieces[at] = await store.get(`${keyOf(id)}/${at}`);
    });
    const result = pieces.includes(undefined) ? undefined : parse(pieces.join(""));
    return isResult(result) ? result : undefined;
  }

  /** Forgets what was kept here and has ended, or is too much. What fails is tried again the next time. */
  async #forgetOld(newest: string): Promise<void> {
    const { clock, most } = this.#options;
    const now = clock.now();
    for (const [id, { manifest }] of this.#own) {
      if (id === newest || (manifest.expiresAt > now && this.#size <= most)) break;
      await this.#forget(id, manifest).catch(() => {});
    }
  }

  async #forget(id: string, { chunks }: Manifest): Promise<void> {
    const { store } = this.#options;
    const kept = this.#own.get(id);
    if (kept) kept.forgotten = true;
    await store.delete(keyOf(id));
    await inTurns(chunks, (at) => store.delete(`${keyOf(id)}/${at}`));
    if (kept && this.#own.delete(id)) this.#size -= kept.size;
  }
}

function keyOf(id: string): string {
  return resultsPrefix + id;
}

/** Runs work for 0 and on, some at the same time. */
async function inTurns(count: number, work: (at: number) => Promise<void>): Promise<void> {
  for (let from = 0; from < count; from += atOnce) {
    await Promise.all(Array.from({ length: Math.min(atOnce, count - from) }, (_, at) => work(from + at)));
  }
}

function split(text: string, size: number): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length;) {
    const end = boundary(text, Math.min(at + size, text.length));
    pieces.push(text.slice(at, end));
    at = end;
  }
  return pieces;
}

function parse(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isManifest(value: unknown): value is Manifest {
  return isObject(value) && value.version === 1 && typeof value.expiresAt === "number" &&
    Number.isSafeInteger(value.chunks);
}

function isResult(value: unknown): value is CallToolResult {
  return isObject(value) && (value.content === undefined || Array.isArray(value.content));
}
