/**
 * The words of one server's tools, packed so that ten thousand tools take a few megabytes.
 *
 * @module
 */
import { isObject } from "../../protocol/json_rpc.ts";
import type { CatalogTool } from "../seam.ts";
import { wordsOf } from "./words.ts";

/** What a word weighs by where it stands. */
const weights = { name: 4, title: 3, server: 1, parameter: 1, description: 1 };
/** How much of anything is looked at: characters, and parameters. */
const most = { name: 256, title: 256, description: 4_096, parameters: 64 };

/** The most tools of one shard: a place has 16 bits. */
export const mostPlaces = 65_536;

/** The index of one server's tools, at most {@linkcode mostPlaces}. */
export class Shard {
  /** Their number. */
  readonly count: number;
  /** How long each is, as the sum of its words' weights. */
  readonly lengths: Float32Array;
  /** The sum of all lengths. */
  readonly total: number;
  /** All words, in the order of code units. */
  readonly #words: readonly string[];
  /** Where the postings of each word begin; one more at the end. */
  readonly #starts: Uint32Array;
  readonly #places: Uint16Array;
  readonly #weights: Float32Array;

  constructor(tools: readonly CatalogTool[]) {
    this.count = tools.length;
    this.lengths = new Float32Array(tools.length);
    // For each word: place, weight, place, weight, …
    const found = new Map<string, number[]>();
    const known = new Map<string, readonly string[]>();
    let size = 0;
    let total = 0;
    for (const [place, tool] of tools.entries()) {
      let length = 0;
      for (const [word, weight] of weigh(tool, known)) {
        const postings = found.get(word);
        if (postings) postings.push(place, weight);
        else found.set(word, [place, weight]);
        length += weight;
        size++;
      }
      this.lengths[place] = length;
      total += length;
    }
    this.total = total;
    this.#words = [...found.keys()].sort();
    this.#starts = new Uint32Array(this.#words.length + 1);
    this.#places = new Uint16Array(size);
    this.#weights = new Float32Array(size);
    let at = 0;
    for (const [number, word] of this.#words.entries()) {
      for (const [index, value] of (found.get(word) ?? []).entries()) {
        if (index % 2 === 0) this.#places[at] = value;
        else this.#weights[at++] = value;
      }
      this.#starts[number + 1] = at;
    }
  }

  /**
   * Adds up, tool by tool, what a word weighs: in full where it stands, less where another begins with it.
   *
   * @param sums Of all tools of all shards; those of this one begin at `offset`.
   * @returns How many tools had a sum of 0 before.
   */
  add(word: string, isPrefix: boolean, sums: Float32Array, offset: number): number {
    let count = 0;
    for (let number = this.#place(word); number < this.#words.length; number++) {
      const found = this.#words[number] ?? "";
      if (found !== word && !(isPrefix && found.startsWith(word))) break;
      const share = found === word ? 1 : 0.7 * word.length / found.length;
      const from = this.#starts[number] ?? 0;
      const to = this.#starts[number + 1] ?? 0;
      for (let at = from; at < to; at++) {
        const place = offset + (this.#places[at] ?? 0);
        const before = sums[place] ?? 0;
        if (before === 0) count++;
        sums[place] = before + share * (this.#weights[at] ?? 0);
      }
    }
    return count;
  }

  /** The first word that is not before this one. */
  #place(word: string): number {
    let [low, high] = [0, this.#words.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#words[middle] ?? "") < word) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** The words of a tool and what each weighs. */
function weigh({ server, name, tool }: CatalogTool, known: Map<string, readonly string[]>): Map<string, number> {
  const sums = new Map<string, number>();
  const add = (text: unknown, weight: number, characters: number): void => {
    if (typeof text !== "string") return;
    for (const word of wordsOf(text, characters, known)) sums.set(word, (sums.get(word) ?? 0) + weight);
  };
  add(name, weights.name, most.name);
  add(tool.title ?? tool.annotations?.title, weights.title, most.title);
  add(server, weights.server, most.name);
  add(tool.description, weights.description, most.description);
  const { properties } = tool.inputSchema;
  const parameters = isObject(properties) ? Object.keys(properties) : [];
  for (const parameter of parameters.slice(0, most.parameters)) add(parameter, weights.parameter, most.name);
  return sums;
}
