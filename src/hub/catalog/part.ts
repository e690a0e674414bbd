/**
 * What a view knows of one server: made when it is asked for, and shared by all views that have the same server.
 *
 * @module
 */
import type { CatalogPrompt, CatalogResource, CatalogServer, CatalogTemplate, CatalogTool } from "../seam.ts";
import { qualify } from "./names.ts";

/** Things with names: by their qualified ones, which are in order of the plain ones, and by those. */
export interface Named<Item> {
  readonly qualified: ReadonlyMap<string, Item>;
  readonly plain: ReadonlyMap<string, Item>;
}

/** One server under its label. */
export class Part {
  readonly server: CatalogServer;
  readonly label: string;
  #tools?: Named<CatalogTool>;
  #prompts?: Named<CatalogPrompt>;
  #resources?: ReadonlyMap<string, CatalogResource>;
  #templates?: ReadonlyMap<string, CatalogTemplate>;

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
  get resources(): ReadonlyMap<string, CatalogResource> {
    const { name: server, resources } = this.server;
    return this.#resources ??= sorted(resources, ({ uri }) => uri, (resource) => ({ server, resource }));
  }

  /** By their URI templates. */
  get templates(): ReadonlyMap<string, CatalogTemplate> {
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
    const plain = sorted(values, ({ name }) => name, (value) => {
      const name = qualify(this.label, value.name, taken);
      const item = make(value, name);
      qualified.set(name, item);
      return item;
    });
    return { qualified, plain };
  }
}

/** By their keys, in the order of code units; of several with one key the first counts. */
function sorted<Value, Item>(
  values: readonly Value[],
  key: (value: Value) => string,
  make: (value: Value) => Item,
): Map<string, Item> {
  const first = new Map<string, Value>();
  for (const value of values) if (!first.has(key(value))) first.set(key(value), value);
  const items = new Map<string, Item>();
  for (const name of [...first.keys()].sort()) items.set(name, make(first.get(name)!));
  return items;
}
