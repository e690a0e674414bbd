/**
 * What tools and prompts are called in front.
 *
 * @module
 */

import type { Entry } from "./pages.ts";

/** Something with a name, as a hub has it. */
export interface NamedItem {
  readonly server: string;
  readonly name: string;
  readonly qualifiedName: string;
}

/** The names of one list; made anew when the list is another one. */
export class Names<Item extends NamedItem> {
  readonly #list: () => readonly Item[];
  readonly #isOwn: boolean;
  #of: readonly Item[] | undefined;
  #named: ReadonlyMap<string, Item> = new Map();
  #listed: { readonly of: unknown; readonly entries: readonly Entry[] } | undefined;

  /** @param isOwn Whether a name that only one server has stands as it is. */
  constructor(list: () => readonly Item[], isOwn: boolean) {
    this.#list = list;
    this.#isOwn = isOwn;
  }

  /** All, by their names here, in the order of the hub. */
  all(): ReadonlyMap<string, Item> {
    const of = this.#list();
    if (this.#of !== of) {
      const times = new Map<string, number>();
      for (const { name } of of) times.set(name, (times.get(name) ?? 0) + 1);
      // A qualified name of one may be the own name of another: then the qualified one stands.
      const taken = new Set(of.map(({ qualifiedName }) => qualifiedName));
      const isFree = ({ name }: Item): boolean => this.#isOwn && times.get(name) === 1 && !taken.has(name);
      this.#named = new Map(of.map((item) => [isFree(item) ? item.name : item.qualifiedName, item]));
      this.#of = of;
    }
    return this.#named;
  }

  /** How they are listed: made once for all pages of one list. */
  entries(list: (name: string, item: Item) => readonly Entry[]): readonly Entry[] {
    const of = this.all();
    if (this.#listed?.of !== of) {
      this.#listed = { of, entries: [...of].flatMap(([name, item]) => list(name, item)) };
    }
    return this.#listed.entries;
  }

  /** Finds one: by its name here, its qualified one, or as `server.name`. */
  find(name: string): Item | undefined {
    const found = this.all().get(name);
    if (found) return found;
    return this.#list().find(({ qualifiedName, server, name: own }) =>
      qualifiedName === name || `${server}.${own}` === name
    );
  }
}
