/**
 * What is registered, in the order of registration, and how it is listed page by page.
 *
 * @module
 */
import { InvalidParamsError } from "../../protocol/errors.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import { find, maybeText } from "../../protocol/shapes/shape.ts";
import { badParams } from "./params.ts";

/** What can be registered: it is found by its key, and listed as `listed`. */
export interface Shelved {
  /** A tool's or prompt's name, a resource's URI, a template's text. */
  readonly key: string;
  /** How clients see it. */
  readonly listed: object;
}

/** How many items a page of a list has, where nothing else is said. */
export const defaultPageSize = 100;

/**
 * One kind of things. Cursors name a place in the order of registration, not a count: what is added or taken away
 * between two pages neither doubles nor hides anything else.
 */
export class Shelf<Item extends Shelved> {
  readonly #kind: string;
  readonly #pageSize: number;
  readonly #changed: () => void;
  readonly #items: Map<string, { readonly place: number; readonly item: Item }> = new Map();
  #places = 0;

  /**
   * Makes an empty one.
   *
   * @param kind What its items are called, in messages and lists: `tools`.
   * @param changed Is called after each registration and removal.
   */
  constructor(kind: string, pageSize: number, changed: () => void) {
    this.#kind = kind;
    this.#pageSize = pageSize;
    this.#changed = changed;
  }

  /** Whether anything was ever registered: who was told of a kind may go on asking for it. */
  get used(): boolean {
    return this.#places > 0;
  }

  /** The items, in the order of registration. */
  *items(): IterableIterator<Item> {
    for (const { item } of this.#items.values()) yield item;
  }

  /** The item of that key. */
  get(key: string): Item | undefined {
    return this.#items.get(key)?.item;
  }

  /**
   * Registers an item.
   *
   * @returns What takes it away again; harmless when it is gone already.
   * @throws {TypeError} When there is one of that key.
   */
  add(item: Item): () => void {
    const { key } = item;
    if (this.#items.has(key)) {
      throw new TypeError(
        `Cannot set up ${JSON.stringify(key)}: it is among the ${this.#kind} already, expected each once`,
      );
    }
    const entry = { place: ++this.#places, item };
    this.#items.set(key, entry);
    this.#changed();
    return () => {
      if (this.#items.get(key) !== entry) return;
      this.#items.delete(key);
      this.#changed();
    };
  }

  /** As `page`, as a promise: what is thrown rejects it. */
  list(params: JsonObject): Promise<JsonObject> {
    return new Promise((resolve) => resolve(this.page(params)));
  }

  /**
   * One page of the list.
   *
   * @throws {InvalidParamsError} When the cursor is none of ours.
   */
  page(params: JsonObject): JsonObject {
    const wrong = find(params, { cursor: maybeText });
    if (wrong) throw badParams(wrong);
    const after = this.#placeOf(params.cursor as string | null | undefined);
    const page: object[] = [];
    let last = after;
    for (const { place, item } of this.#items.values()) {
      if (place <= after) continue;
      if (page.length === this.#pageSize) return { [this.#kind]: page, nextCursor: this.#cursorAt(last) } as JsonObject;
      page.push(item.listed);
      last = place;
    }
    return { [this.#kind]: page } as JsonObject;
  }

  #cursorAt(place: number): string {
    return btoa(`${this.#kind}:${place}`);
  }

  #placeOf(cursor: string | null | undefined): number {
    if (cursor === undefined || cursor === null) return 0;
    const place = cursor.length > 99 ? NaN : Number(decoded(cursor)?.slice(this.#kind.length + 1));
    // Only what we could have written ourselves.
    if (!Number.isSafeInteger(place) || place < 1 || place > this.#places || this.#cursorAt(place) !== cursor) {
      throw new InvalidParamsError(`Cannot list the ${this.#kind}: "cursor" is none of this list`, { rpcCode: -32602 });
    }
    return place;
  }
}

function decoded(text: string): string | undefined {
  try {
    return atob(text);
  } catch {
    return undefined;
  }
}
