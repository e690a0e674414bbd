/**
 * The catalog of a hub as a view that never changes: a change makes another view, which shares what stayed as it was.
 *
 * @module
 */
import type {
  Catalog,
  CatalogPrompt,
  CatalogResource,
  CatalogServer,
  CatalogTemplate,
  CatalogTool,
  QualifiedName,
} from "../seam.ts";
import { labelServers, separator } from "./names.ts";
import { type Named, Part, type Sorted } from "./part.ts";

/**
 * What all servers have, in a stable order: servers as they were given, what each has by its name (resources by URI, templates
 * by URI template) in the order of code units, however the server lists it. Of two tools of one server with one name the
 * first counts; the same for prompts, resources and templates.
 *
 * Nothing is built before it is asked for. Arrays are the same from call to call: do not change them.
 */
export interface CatalogView {
  /** As they were given. */
  readonly servers: readonly CatalogServer[];
  /** The tools of all servers. */
  tools(): readonly CatalogTool[];
  /** The resources of all servers. */
  resources(): readonly CatalogResource[];
  /** The resource templates of all servers. */
  templates(): readonly CatalogTemplate[];
  /** The prompts of all servers. */
  prompts(): readonly CatalogPrompt[];
  /** One server. */
  server(name: string): CatalogServer | undefined;
  /**
   * Finds a tool by its qualified name, as `server.tool`, or in two parts. No text can mean both of the first two, since
   * qualified names have no dot. Where several dots can part `server.tool`, the longest server name with such a tool counts.
   */
  findTool(name: QualifiedName): CatalogTool | undefined;
  /** Finds a prompt as `findTool` finds a tool. */
  findPrompt(name: QualifiedName): CatalogPrompt | undefined;
  /** Who lists a resource with exactly this URI: at most one entry for each server. */
  findResource(uri: string): readonly CatalogResource[];
  /** Another view, with this server in the place of the one of its name, or behind all others. */
  with(server: CatalogServer): CatalogView;
  /** Another view, without the server of this name; the same where there is none. */
  without(name: string): CatalogView;
  /** Plain JSON, to be stored. */
  toJSON(): Catalog;
}

/**
 * Makes a view.
 *
 * @param servers What was listed, in the order of the config; names are unique.
 * @throws {TypeError} When two servers have one name.
 *
 * @example Finding a tool
 * ```ts
 * import { createCatalogView } from "@causeway/mcp/hub";
 *
 * const view = createCatalogView([{
 *   name: "github",
 *   listedAt: 0,
 *   tools: [{ name: "create_issue", inputSchema: { type: "object" } }],
 *   resources: [],
 *   templates: [],
 *   prompts: [],
 * }]);
 * const tool = view.findTool("github.create_issue");
 * if (tool?.qualifiedName !== "github__create_issue") throw new Error("it is not there");
 * ```
 */
export function createCatalogView(servers: readonly CatalogServer[]): CatalogView {
  if (new Set(servers.map(({ name }) => name)).size < servers.length) {
    throw new TypeError("Cannot make a catalog: expected a name of its own for each server");
  }
  return new View(servers);
}

/** Parts by the names of their servers, in the order of the view, and by their labels. */
interface Index {
  readonly parts: ReadonlyMap<string, Part>;
  readonly labelled: ReadonlyMap<string, Part>;
  /** The most characters of a server's name. */
  readonly longest: number;
}

/** Whose something is, and its name there, where that can be told. */
interface Owner {
  readonly server: string;
  readonly name: string | undefined;
}

/** The view itself; who makes one sees to it that no two servers have one name. */
export class View implements CatalogView {
  readonly servers: readonly CatalogServer[];
  /** That of the view that this one was made from, until there is an own one. */
  #before: Index | undefined;
  #index: Index | undefined;
  #tools?: readonly CatalogTool[];
  #resources?: readonly CatalogResource[];
  #templates?: readonly CatalogTemplate[];
  #prompts?: readonly CatalogPrompt[];

  constructor(servers: Iterable<CatalogServer>, before?: Index) {
    this.servers = [...servers];
    this.#before = before;
  }

  tools(): readonly CatalogTool[] {
    return this.#tools ??= this.#all((part) => part.tools);
  }

  resources(): readonly CatalogResource[] {
    return this.#resources ??= this.#all((part) => part.resources);
  }

  templates(): readonly CatalogTemplate[] {
    return this.#templates ??= this.#all((part) => part.templates);
  }

  prompts(): readonly CatalogPrompt[] {
    return this.#prompts ??= this.#all((part) => part.prompts);
  }

  server(name: string): CatalogServer | undefined {
    return this.servers.find((server) => server.name === name);
  }

  findTool(name: QualifiedName): CatalogTool | undefined {
    return this.#find(name, (part) => part.tools);
  }

  findPrompt(name: QualifiedName): CatalogPrompt | undefined {
    return this.#find(name, (part) => part.prompts);
  }

  /** The server that a name begins with, whatever is known of it. Without a dot the own name is not known before it is listed. */
  owner(name: string): Owner | undefined {
    return this.#first(name, ({ server }, own) => ({ server: server.name, name: own }));
  }

  findResource(uri: string): readonly CatalogResource[] {
    return [...this.#indexed().parts.values()].flatMap(({ resources }) => resources.byKey.get(uri) ?? []);
  }

  with(server: CatalogServer): View {
    // One that is there keeps its place.
    const servers = new Map([...this.servers, server].map((one) => [one.name, one]));
    return new View(servers.values(), this.#index ?? this.#before);
  }

  without(name: string): View {
    if (!this.server(name)) return this;
    return new View(this.servers.filter((server) => server.name !== name), this.#index ?? this.#before);
  }

  toJSON(): Catalog {
    return { kind: "causeway.catalog", version: 1, servers: this.servers };
  }

  #find<Item>(name: QualifiedName, list: (part: Part) => Named<Item>): Item | undefined {
    if (typeof name !== "object") {
      return this.#first(
        name,
        (part, own) => own === undefined ? list(part).qualified.get(name) : list(part).byKey.get(own),
      );
    }
    const part = this.#indexed().parts.get(name.server);
    return part && list(part).byKey.get(name.name);
  }

  /** What is found at the server of the longest name that this one begins with; `own` is what follows its dot. */
  #first<Found>(name: string, find: (part: Part, own?: string) => Found | undefined): Found | undefined {
    const { parts, labelled, longest } = this.#indexed();
    // No longer prefix is a server's name: a text of nothing but dots costs no more than another.
    for (let at = longest + 1; (at = name.lastIndexOf(".", at - 1)) > 0;) {
      const part = parts.get(name.slice(0, at));
      const found = part && find(part, name.slice(at + 1));
      if (found) return found;
    }
    const end = name.indexOf(separator);
    const part = end > 0 && labelled.get(name.slice(0, end));
    return part ? find(part) : undefined;
  }

  #all<Item>(sorted: (part: Part) => Sorted<Item>): readonly Item[] {
    const none: Item[] = [];
    // Arrays that are told to be joined are copied whole: a hundred times as fast as one by one.
    return none.concat(...[...this.#indexed().parts.values()].map((part) => sorted(part).list));
  }

  /** Names that nobody asked for are not made: a part makes its own when it is asked. */
  #indexed(): Index {
    if (this.#index) return this.#index;
    const parts = new Map<string, Part>();
    const labelled = new Map<string, Part>();
    const labels = labelServers(this.servers.map(({ name }) => name));
    let longest = 0;
    for (const server of this.servers) {
      const label = labels.get(server.name) as string;
      const known = this.#before?.parts.get(server.name);
      const part = known?.server === server && known.label === label ? known : new Part(server, label);
      parts.set(server.name, part);
      labelled.set(label, part);
      longest = Math.max(longest, server.name.length);
    }
    this.#before = undefined;
    return this.#index = { parts, labelled, longest };
  }
}
