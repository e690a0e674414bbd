/**
 * Templates by how what they make begins: a URI is held against those alone that begin as it does.
 *
 * @module
 */
import type { CatalogTemplate } from "../../seam.ts";

/** The templates of one server. */
export class Heads {
  /** By the text that every URI of theirs begins with, up to so many characters. */
  readonly #byText = new Map<string, CatalogTemplate[]>();
  readonly #lengths = new Set<number>();

  /** Takes one in. */
  add(found: CatalogTemplate): void {
    // Only characters that are never encoded; not many, since each length of a head costs all URIs as much.
    const [text] = /^[\w.~:/-]{0,100}/.exec(found.template.uriTemplate)!;
    const own = this.#byText.get(text) ?? [];
    own.push(found);
    this.#byText.set(text, own);
    this.#lengths.add(text.length);
  }

  /** Those that a URI may begin like. */
  near(uri: string): readonly CatalogTemplate[] {
    const fitting = [...this.#lengths].filter((length) => length <= uri.length);
    return fitting.flatMap((length) => this.#byText.get(uri.slice(0, length)) ?? []);
  }
}
