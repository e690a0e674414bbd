/**
 * Search over the tools of a catalog: ranked as BM25 does, over names, titles, descriptions, parameters and servers.
 *
 * @module
 */
import type { CatalogTool } from "../seam.ts";
import { mostPlaces, Shard } from "./shard.ts";
import { wordsOf } from "./words.ts";

/** What has tools: a view, or a hub. */
export interface ToolSource {
  /** The tools in their order; those of one server stand together. */
  tools(): readonly CatalogTool[];
}

/** Options of a search. */
export interface SearchOptions {
  /** The most tools that it gives (10). */
  readonly limit?: number | undefined;
  /** Looks at the tools of this server only. */
  readonly server?: string | undefined;
  /** Leaves out those for which it says false. */
  readonly filter?: ((tool: CatalogTool) => boolean) | undefined;
}

/** A tool that was found. */
export interface FoundTool {
  /** The tool, and whose it is. */
  readonly tool: CatalogTool;
  /** How well it fits: more is better; only figures of one search can be compared. */
  readonly score: number;
}

/** A search that keeps its index from one query to the next. */
export interface ToolSearch {
  /**
   * The tools that fit best, best first; of two that fit as well, the earlier of the catalog.
   *
   * @param query Words in any order; of 1,000 characters and 32 different words. Without any there is nothing.
   * @throws {RangeError} When `limit` is no whole number from 1 on.
   */
  search(query: string, options?: SearchOptions): FoundTool[];
}

/** How soon more of one word stops to count, and how much long texts count less: what BM25 calls k1 and b. */
const tuning = { saturation: 1.2, length: 0.75 };
/** The most characters and words of a query. */
const most = { characters: 1_000, words: 32 };

/**
 * Makes a search over what a source has. A server's index is made with the first query that looks at its tools; later ones
 * index the servers anew whose tools have changed since, and only those.
 *
 * @example Looking for a tool
 * ```ts
 * import { createCatalogView } from "@causeway/mcp/hub";
 * import { createToolSearch } from "@causeway/mcp/hub";
 *
 * const inputSchema = { type: "object" };
 * const tools = [{ name: "createIssue", inputSchema }, { name: "list_files", inputSchema }];
 * const view = createCatalogView([{ name: "hub", listedAt: 0, tools, resources: [], templates: [], prompts: [] }]);
 * const [best] = createToolSearch(view).search("create an issue");
 * if (best?.tool.name !== "createIssue") throw new Error("it was not found");
 * ```
 */
export function createToolSearch(source: ToolSource): ToolSearch {
  return new Search(source);
}

/** One search over what a source has, with an index that is made for it alone: for more than one see {@linkcode createToolSearch}. */
export function searchTools(source: ToolSource, query: string, options?: SearchOptions): FoundTool[] {
  return createToolSearch(source).search(query, options);
}

/** The tools of one server (or some of very many), and where they begin among all. */
interface Section {
  readonly server: string;
  readonly start: number;
  readonly tools: readonly CatalogTool[];
  /** Made when it is looked at first. */
  shard?: Shard | undefined;
}

/** One that is looked at. */
type Indexed = Section & { readonly shard: Shard };

class Search implements ToolSearch {
  readonly #source: ToolSource;
  #tools: readonly CatalogTool[] = [];
  #sections: readonly Section[] = [];

  constructor(source: ToolSource) {
    this.#source = source;
  }

  search(query: string, { limit = 10, server, filter }: SearchOptions = {}): FoundTool[] {
    if (!Number.isInteger(limit) || limit < 1) {
      throw new RangeError(`Cannot search with the limit ${limit}: expected a whole number, 1 or more`);
    }
    const words = [...new Set(wordsOf(query, most.characters))].slice(0, most.words);
    if (words.length === 0) return [];
    this.#update();
    const sections = this.#sections.filter((section) => server === undefined || section.server === server).map(indexed);
    const scores = score(words, sections, this.#tools.length);
    return pick(scores, { tools: this.#tools, sections, limit, filter });
  }

  /** Takes over what there is now. Sections whose tools are the same are kept. */
  #update(): void {
    const tools = this.#source.tools();
    if (tools === this.#tools) return;
    const known = new Map(this.#sections.map((section) => [section.server, section]));
    const sections: Section[] = [];
    for (let start = 0; start < tools.length;) {
      const server = tools[start]?.server ?? "";
      let end = start;
      while (end < tools.length && tools[end]?.server === server && end - start < mostPlaces) end++;
      const own = tools.slice(start, end);
      const before = known.get(server);
      sections.push({
        server,
        start,
        tools: own,
        shard: before && isSame(before.tools, own) ? before.shard : undefined,
      });
      start = end;
    }
    this.#sections = sections;
    this.#tools = tools;
  }
}

function indexed(section: Section): Indexed {
  return Object.assign(section, { shard: section.shard ?? new Shard(section.tools) });
}

/** True when the same words are in both: then they have the same index. */
function isSame(before: readonly CatalogTool[], now: readonly CatalogTool[]): boolean {
  return before.length === now.length && now.every((item, at) => item.tool === before[at]?.tool);
}

/** What each tool scores; 0 where no word stands. */
function score(words: readonly string[], sections: readonly Indexed[], count: number): Float64Array {
  const scores = new Float64Array(count);
  const indexed = sections.reduce((sum, { shard }) => sum + shard.count, 0);
  const average = sections.reduce((sum, { shard }) => sum + shard.total, 0) / indexed;
  const sums = new Float32Array(count);
  for (const word of words) {
    // One or two letters of the alphabet begin too many words.
    const isPrefix = word.length > 2 || /[^\0-\x7f]/.test(word);
    let having = 0;
    for (const { shard, start } of sections) having += shard.add(word, isPrefix, sums, start);
    if (having === 0) continue;
    const rarity = Math.log(1 + (indexed - having + 0.5) / (having + 0.5));
    for (const { shard, start } of sections) {
      for (let place = 0; place < shard.count; place++) {
        const sum = sums[start + place] ?? 0;
        if (sum === 0) continue;
        sums[start + place] = 0;
        const long = 1 - tuning.length + tuning.length * (shard.lengths[place] ?? 0) / average;
        const part = sum * (tuning.saturation + 1) / (sum + tuning.saturation * long);
        scores[start + place] = (scores[start + place] ?? 0) + rarity * part;
      }
    }
  }
  return scores;
}

/** What to pick from. */
interface Choice {
  readonly tools: readonly CatalogTool[];
  readonly sections: readonly Indexed[];
  readonly limit: number;
  readonly filter: SearchOptions["filter"];
}

/** The best, in order. What would not be among them costs one comparison. */
function pick(scores: Float64Array, { tools, sections, limit, filter }: Choice): FoundTool[] {
  const best: FoundTool[] = [];
  for (const { start, shard } of sections) {
    for (let place = start; place < start + shard.count; place++) {
      const score = scores[place] ?? 0;
      const last = best.length === limit ? best[limit - 1]?.score ?? 0 : 0;
      if (score <= last) continue;
      const tool = tools[place];
      if (!tool || (filter && !filter(tool))) continue;
      let at = best.length;
      while (at > 0 && (best[at - 1]?.score ?? 0) < score) at--;
      best.splice(at, 0, { tool, score });
      if (best.length > limit) best.pop();
    }
  }
  return best;
}
