/**
 * Templates by how what they make begins: a URI is held against those alone that begin as it does.
 *
 * @module
 */
import type { CatalogTemplate } from "../../seam.ts";

/** The templates of one server. */
export class Heads {
  readonly #all: readonly CatalogTemplate[];
  /** Their places in the list, by the text that every URI of theirs begins with. */
  readonly #places = new Map<string, number[]>();
  readonly #lengths: readonly number[];

  constructor(all: readonly CatalogTemplate[]) {
    this.#all = all;
    all.forEach(({ template }, at) => {
      const head = headOf(template.uriTemplate);
      const places = this.#places.get(head);
      if (places) places.push(at);
      else this.#places.set(head, [at]);
    });
    this.#lengths = [...new Set(Array.from(this.#places.keys(), ({ length }) => length))];
  }

  /** Those that a URI begins like, in the order of the list. */
  near(uri: string): readonly CatalogTemplate[] {
    const places = this.#lengths.flatMap((length) =>
      length > uri.length ? [] : this.#places.get(uri.slice(0, length)) ?? []
    );
    return places.sort((one, other) => one - other).map((at) => this.#all[at]!);
  }
}

/** Only of characters that are never encoded. */
function headOf(uriTemplate: string): string {
  return /^[\w.~:/-]*/.exec(uriTemplate)![0];
}
