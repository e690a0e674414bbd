/**
 * What a view knows of one server: made when it is asked for, and shared by all views that have the same server.
 *
 * @module
 */
import type { CatalogPrompt, CatalogResource, CatalogServer, CatalogTemplate, CatalogTool } from "../seam.ts";
import { qualify } from "./names.ts";

/** Things in the order of their keys, and by those. */
export interface Sorted<Item> {
  readonly list: readonly Item[];
  readonly byKey: ReadonlyMap<string, Item>;
}

/** Things whose keys are their names at the server; they have qualified ones too. */
export interface Named<Item> extends Sorted<Item> {
  readonly qualified: ReadonlyMap<string, Item>;
}

/** One server under its label. */
export class Part {
  readonly server: CatalogServer;
  readonly label: string;
  #tools?: Named<CatalogTool>;
  #prompts?: Named<CatalogPrompt>;
  #resources?: Sorted<CatalogResource>;
  #templates?: Sorted<CatalogTemplate>;

  constructor(server: CatalogServer, label: string) {
    this.server = server;
    this.label = label;
  }

  get tools(): Named<CatalogTool> {
    const { name: server, tools } = this.server;
    return this.#tools ??= this.#named(
      tools,
      (tool, qualifiedName) => ({ server, name: tool.name, qualifiedName, tool }),
    );
  }

  get prompts(): Named<CatalogPrompt> {
    const { name: server, prompts } = this.server;
    return this.#prompts ??= this.#named(
      prompts,
      (prompt, qualifiedName) => ({ server, name: prompt.name, qualifiedName, prompt }),
    );
  }

  /** By their URIs. */
  get resources(): Sorted<CatalogResource> {
    const { name: server, resources } = this.server;
    return this.#resources ??= sorted(resources, ({ uri }) => uri, (resource) => ({ server, resource }));
  }

  /** By their URI templates. */
  get templates(): Sorted<CatalogTemplate> {
    const { name: server, templates } = this.server;
    return this.#templates ??= sorted(
      templates,
      ({ uriTemplate }) => uriTemplate,
      (template) => ({ server, template }),
    );
  }

  #named<Value extends { name: string }, Item>(
    values: readonly Value[],
    make: (value: Value, qualifiedName: string) => Item,
  ): Named<Item> {
    const qualified = new Map<string, Item>();
    const taken = (name: string): boolean => qualified.has(name);
    const own = sorted(values, ({ name }) => name, (value) => {
      const name = qualify(this.label, value.name, taken);
      const item = make(value, name);
      qualified.set(name, item);
      return item;
    });
    return { ...own, qualified };
  }
}

/** By their keys, in the order of code units; of several with one key the first counts. */
function sorted<Value, Item>(
  values: readonly Value[],
  key: (value: Value) => string,
  make: (value: Value) => Item,
): Sorted<Item> {
  const first = new Map<string, Value>();
  for (const value of values) if (!first.has(key(value))) first.set(key(value), value);
  const byKey = new Map<string, Item>();
  for (const name of [...first.keys()].sort()) byKey.set(name, make(first.get(name)!));
  return { list: [...byKey.values()], byKey };
}
