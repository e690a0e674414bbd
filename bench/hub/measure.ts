/** The hub's catalog and search at scale, in a process of its own: prints one line of JSON. */
import process from "node:process";
import { createCatalogView } from "../../src/hub/catalog/catalog.ts";
import { createToolSearch } from "../../src/hub/search/tool_search.ts";
import type { CatalogServer } from "../../src/hub/seam.ts";
import { settledHeap } from "../cells/measure.ts";
import { median } from "../results.ts";
import type { Figures } from "../task.ts";
import { makeServers } from "./servers.ts";

const [servers, tools] = [200, 50];
const queries = [
  "create issue",
  "create a new issue in the repository",
  "send a message to the channel of the team",
  "list invoices",
  "searchFiles",
  "calendar",
  "delete",
  "the a of in for with and to by from",
  "nothing_like_it",
];

/** Measures and prints. Milliseconds; microseconds for lookups; bytes for memory. */
export async function measureHub(): Promise<void> {
  const text = JSON.stringify(makeServers(servers, tools));
  const read = (): CatalogServer[] => JSON.parse(text);
  const before = await settledHeap();
  const listed = read();
  const parsed = await settledHeap();
  const view = createCatalogView(listed);
  const build = once(() => touch(view));
  const built = await settledHeap();
  const search = createToolSearch(view);
  const index = once(() => search.search("create"));
  const indexed = await settledHeap();
  const found = queries.map((query) => medianTime(50, () => search.search(query)));
  const figures: Figures = {
    build,
    rebuild: median(Array.from({ length: 20 }, read).map((copy) => time(() => touch(createCatalogView(copy))))) ?? NaN,
    lookup: lookUp(view),
    refresh: medianTime(200, () => touch(view.with({ ...listed[7] ?? fail(), tools: [...listed[7]?.tools ?? []] }))),
    memory: built - before,
    view: built - parsed,
    searchable: indexed - built,
    index,
    search: Math.max(...found),
    usual: median(found) ?? NaN,
  };
  if (view.tools().length !== servers * tools) fail();
  console.log(JSON.stringify(figures));
}

/** Asks for all that is made when it is asked for. */
function touch(view: ReturnType<typeof createCatalogView>): void {
  const last = view.tools().at(-1);
  if (!last || view.findTool(last.qualifiedName) !== last) fail();
}

/** Microseconds for one lookup, over all tools in turn, by each of the three kinds of name. */
function lookUp(view: ReturnType<typeof createCatalogView>): number {
  const names = view.tools().map(({ qualifiedName, server, name }, at) =>
    [qualifiedName, `${server}.${name}`, { server, name }][at % 3] ?? ""
  );
  let found = 0;
  const rounds = 50;
  const run = (): void => {
    for (const name of names) if (view.findTool(name)) found++;
  };
  run();
  const milliseconds = medianTime(rounds, run);
  if (found !== names.length * (rounds + 1)) fail();
  return milliseconds * 1_000 / names.length;
}

/**
 * Milliseconds of what can be done only once in a process: the clock's, or the CPU time of all threads where that is less,
 * since then other processes had the processor.
 */
function once(work: () => unknown): number {
  const before = process.cpuUsage();
  const clock = time(work);
  const { user, system } = process.cpuUsage(before);
  return Math.min(clock, (user + system) / 1_000);
}

function time(work: () => unknown): number {
  const started = performance.now();
  work();
  return performance.now() - started;
}

function medianTime(runs: number, work: () => unknown): number {
  return median(Array.from({ length: runs }, () => time(work))) ?? NaN;
}

function fail(): never {
  throw new Error("the catalog is not what it should be");
}
