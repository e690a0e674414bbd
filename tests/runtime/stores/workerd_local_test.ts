/** The stores of Workers in real workerd: two Workers, each an isolate of its own, over one object or one KV namespace. */
import type { Miniflare, WorkerOptions } from "miniflare";
import { join } from "node:path";
import process from "node:process";
import { after, before, describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import type { Store } from "../../../src/ports.ts";
import { packagesInstalled } from "../../../tools/programs.ts";
import { compare, storeSuite, type StoreSuiteOptions } from "../../suites/store.ts";
import type { Wish } from "./children/worker.ts";

const isHere = "Bun" in globalThis;
const skip = packagesInstalled() ? false : "miniflare and esbuild are not installed";
let miniflare: Miniflare | undefined;

before(async () => {
  if (skip || !isHere) return;
  const { Miniflare } = await import("miniflare");
  const contents = await bundleWorker();
  const objects = (scriptName?: string): WorkerOptions["durableObjects"] => ({
    STORES: { className: "StoreObject", useSQLite: true, ...(scriptName && { scriptName }) },
    OLD_STORES: { className: "OldStoreObject", useSQLite: false, ...(scriptName && { scriptName }) },
    COUNTERS: { className: "Counter", useSQLite: true, ...(scriptName && { scriptName }) },
    OLD_COUNTERS: { className: "OldCounter", useSQLite: false, ...(scriptName && { scriptName }) },
  });
  const worker = (name: string, scriptName?: string): WorkerOptions => ({
    name,
    routes: [`${name}.test/*`],
    modules: [{ type: "ESModule", path: "worker.js", contents }],
    compatibilityDate: "2026-05-03",
    compatibilityFlags: ["nodejs_compat"],
    kvNamespaces: { KV: "shared" },
    durableObjects: objects(scriptName),
  });
  miniflare = new Miniflare({ cf: false, workers: [worker("one"), worker("two", "one")] });
  await miniflare.ready;
});
after(async () => await miniflare?.dispose());

async function bundleWorker(): Promise<string> {
  const { build } = await import("esbuild");
  // The tests run from the repository's root, also where they were compiled to somewhere else.
  const here = process.cwd();
  const built = await build({
    entryPoints: [join(here, "tests", "runtime", "stores", "children", "worker.ts")],
    bundle: true,
    format: "esm",
    target: "es2022",
    write: false,
  });
  return built.outputFiles[0]?.text ?? "";
}

/** Posts to one of the Workers, and gives what it answers. */
async function post(host: string, path: string, body: unknown): Promise<Record<string, unknown>> {
  assert(miniflare);
  // One that is kept is ended by workerd after some seconds, on a machine that stands still just when it is used again.
  const init = { method: "POST", headers: { connection: "close" }, body: JSON.stringify(body) };
  const response = await miniflare.dispatchFetch(`http://${host}.test${path}`, init);
  const text = await response.text();
  assertEquals(response.status, 200, text);
  return JSON.parse(text);
}

/** A store of one of the Workers, seen from here. */
function remote(host: string, place: Wish["place"], name: string): Store {
  const ask = async (wish: Omit<Wish, "place" | "name">): Promise<unknown> => {
    const { value, error } = await post(host, "/", { place, name, ...wish });
    if (error !== undefined) throw new Error(`in the Worker: ${error}`);
    return value;
  };
  const store: Store = {
    async get(key) {
      const value = await ask({ step: "get", key });
      return typeof value === "string" ? value : undefined;
    },
    set: async (key, value) => void await ask({ step: "set", key, value }),
    delete: async (key) => void await ask({ step: "delete", key }),
  };
  if (place === "KV") return store;
  return {
    ...store,
    compareAndSet: async (key, expected, value) => await ask({ step: "compareAndSet", key, expected, value }) === true,
  };
}

let places = 0;
function open(place: Wish["place"]): { stores: [Store, Store] } {
  const name = `place ${++places}`;
  return { stores: [remote("one", place, name), remote("two", place, name)] };
}

// It is the same workerd from each runtime: once is enough.
if (isHere) {
  storeSuite("createStubStore, two isolates", () => open("STORES"), { compares: true, skip });
  // What is kept has a head of a few bytes, and 128 KiB with it is the most.
  const old: StoreSuiteOptions = { compares: true, longest: 131_000, skip };
  storeSuite("createStubStore, two isolates, without SQLite", () => open("OLD_STORES"), old);
  storeSuite("createKvStore", () => open("KV"), { compares: false, keepsHalves: false, skip });
  sharing();
  competing();
} else test("the stores of Workers", { skip: "they are tested from Bun" }, () => {});

function sharing(): void {
  describe("isolates that share an object", { concurrency: false }, () => {
    for (const place of ["STORES", "OLD_STORES"] as const) {
      test(`lose none of 200 steps, counted in both of them (${place})`, { skip }, async () => {
        const name = `count ${place}`;
        const lanes = Array.from({ length: 8 }, async (_, lane) => {
          for (let step = 0; step < 25; step++) {
            const wish = { place, name, step: "increment", key: "key" };
            assertEquals(await post(lane % 2 ? "one" : "two", "/", wish), { value: null });
          }
        });
        await Promise.all(lanes);
        assertEquals(await remote("two", place, name).get("key"), "200");
      });
    }

    test("and objects of other names share nothing", { skip }, async () => {
      const [one, two] = [remote("one", "STORES", "tenant a"), remote("one", "STORES", "tenant b")];
      assertEquals(await compare(one, "key", undefined, "a"), true);
      assertEquals(await compare(two, "key", undefined, "b"), true);
      assertEquals([await one.get("key"), await two.get("key")], ["a", "b"]);
    });
  });
}

function competing(): void {
  describe("an object that competes with itself", { concurrency: false }, () => {
    for (const place of ["COUNTERS", "OLD_COUNTERS"]) {
      test(`loses no step, with one store and with several over its storage (${place})`, { skip }, async () => {
        for (const parts of [1, 3]) {
          const name = `${place} ${parts}`;
          const asked = [1, 2].map((round) => post("one", "/counters", { place, name, times: 40, parts, round }));
          for (const { winners } of await Promise.all(asked)) assert(winners === 1 || winners === 0, String(winners));
          const { count, winners } = await post("two", "/counters", { place, name, times: 1, parts });
          assertEquals([count, winners], ["81", 1]);
        }
      });
    }
  });
}
